/** Tables as CSV that a spreadsheet opens without running anything in it. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const FORMULA = /^[=+\-@\t\r]/;

/** Write rows of values; what a spreadsheet would take for a formula gets an apostrophe before it. */
export function asCsv(header, rows) {
  return [header, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function cell(value) {
  const text = defused(value === null || value === undefined ? "" : String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const defused = (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);
