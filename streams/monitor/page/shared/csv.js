/** Tables as CSV that is safe to open in a spreadsheet. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Return rows of values as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it.
 * @param {unknown[]} header
 * @param {unknown[][]} rows
 */
export function toCsv(header, rows) {
  return [header, ...rows].map((row) => row.map(toCell).join(",")).join("\r\n") + "\r\n";
}

/** @param {unknown} value */
function toCell(value) {
  const text = escapeFormula(value === null || value === undefined ? "" : String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {string} text */
const escapeFormula = (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);
