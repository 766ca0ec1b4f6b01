/** Numbers and times as text. */

const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

export const NOTHING = "–";

/** @typedef {number | null | undefined} Maybe */

/** @param {Maybe} number */
export const count = (number) => (number === null || number === undefined ? NOTHING : whole.format(number));

/**
 * @param {number} number
 * @param {string} noun
 */
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** @param {string} text */
export const capitalized = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {string} text */
export const sentence = (text) => capitalized(text) + (/(^|[.!?])$/.test(text) ? "" : ".");

/** @param {Maybe} share */
export const percent = (share) => (share === null || share === undefined ? NOTHING : `${Math.round(100 * share)} %`);

/**
 * Return a number with fixed decimals, and a typographic minus.
 * @param {Maybe} number
 */
export function decimal(number, digits = 2) {
  if (number === null || number === undefined) return NOTHING;
  const text = number.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/**
 * Return a number with at least two significant digits.
 * @param {Maybe} number
 */
export function brief(number) {
  if (number === null || number === undefined) return NOTHING;
  if (Math.abs(number) >= 99.5) return count(Math.round(number));
  return decimal(number, Math.abs(number) >= 9.95 ? 0 : 1);
}

/**
 * Return how many decimals scores need so that the smallest deviation has two digits.
 * @param {number[]} deviations
 */
export function decimalsFor(deviations) {
  const least = Math.min(...deviations.filter((deviation) => deviation > 0));
  return Number.isFinite(least) ? Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(least)))) : 2;
}

/**
 * @param {number} low
 * @param {number | null} high
 */
export const rankRange = (low, high) => (high === null || low === high ? String(low) : `${low}–${high}`);

/** @param {Date} date */
export const timeOfDay = (date) => clock.format(date);

/**
 * Return a time; without the date if it is today.
 * @param {string | null} text
 */
export function moment(text) {
  if (!text) return NOTHING;
  const date = new Date(text);
  const today = date.toDateString() === new Date().toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}
