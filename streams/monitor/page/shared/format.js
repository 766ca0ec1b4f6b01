/** Numbers and times as they stand on the page. */

const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

export const NOTHING = "–";

export const count = (number) => (number === null || number === undefined ? NOTHING : whole.format(number));

export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export const percent = (share) => (share === null || share === undefined ? NOTHING : `${Math.round(100 * share)} %`);

/** A measure with some decimals, and a true minus. */
export function decimal(number, digits = 2) {
  if (number === null || number === undefined) return NOTHING;
  const text = number.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** Two significant figures at least, as many decimals as that takes. */
export function brief(number) {
  if (number === null || number === undefined) return NOTHING;
  if (Math.abs(number) >= 99.5) return count(Math.round(number));
  return decimal(number, Math.abs(number) >= 9.95 ? 0 : 1);
}

/** How many decimals scores need so that their deviations are read with two figures. */
export function decimalsFor(deviations) {
  const least = Math.min(...deviations.filter((deviation) => deviation > 0));
  return Number.isFinite(least) ? Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(least)))) : 2;
}

export const ranks = (low, high) => (low === high ? String(low) : `${low}–${high}`);

export const timeOfDay = (date) => clock.format(date);

/** A time of today by the clock alone. */
export function moment(text) {
  if (!text) return NOTHING;
  const date = new Date(text);
  const today = date.toDateString() === new Date().toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}
