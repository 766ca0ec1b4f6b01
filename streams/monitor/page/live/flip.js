/** Rows that glide to their new places: measured before and after, then moved by a transform alone. */

const MILLISECONDS = 450;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function glide(rows, reorder) {
  if (still.matches) return reorder();
  const before = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
  for (const row of rows) row.getAnimations().forEach((running) => running.id === "glide" && running.cancel());
  reorder();
  const moves = [];
  for (const [row, top] of before) {
    if (!row.isConnected) continue;
    const now = row.getBoundingClientRect().top;
    const seen = (y) => y > -100 && y < innerHeight + 100;
    if (Math.abs(top - now) >= 1 && (seen(top) || seen(now))) moves.push([row, top - now]);
  }
  for (const [row, distance] of moves) {
    row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], {
      id: "glide",
      duration: MILLISECONDS,
      easing: "cubic-bezier(.2, .7, .2, 1)",
    });
  }
}

/** Tint a row for a moment: `rose` or `fell`. */
export function tint(row, way) {
  if (still.matches) return;
  row.getAnimations().forEach((running) => running.id === "tint" && running.cancel());
  const colour = getComputedStyle(row).getPropertyValue(way === "rose" ? "--rose" : "--fell");
  row.animate([{ backgroundColor: colour }, { backgroundColor: "transparent" }], { id: "tint", duration: 1600, easing: "ease-out" });
}
