/** Rows that glide to their new places, tinted for a moment: measured before and after, moved by a transform alone. */

const GLIDE = { duration: 450, easing: "cubic-bezier(.2, .7, .2, 1)" };
const TINT = { duration: 1600, easing: "ease-out" };
const MARGIN = 100; // pixels out of sight within which a row still moves

const still = matchMedia("(prefers-reduced-motion: reduce)");
const gliding = new WeakMap(); // row -> its animation; asking the browser for it would cost a layout

export function glide(rows, reorder) {
  if (still.matches) return reorder();
  const before = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
  for (const row of rows) gliding.get(row)?.cancel();
  reorder();
  const moves = [];
  for (const [row, top] of before) {
    if (!row.isConnected) continue;
    const now = row.getBoundingClientRect().top;
    if (Math.abs(top - now) >= 1 && (inSight(top) || inSight(now))) moves.push([row, top - now]);
  }
  for (const [row, distance] of moves) move(row, distance);
}

const inSight = (top) => top > -MARGIN && top < innerHeight + MARGIN;

function move(row, distance) {
  gliding.set(row, row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], GLIDE));
  const colour = distance > 0 ? "var(--rose)" : "var(--fell)";
  row.animate([{ backgroundColor: colour }, { backgroundColor: "var(--page)" }], TINT);
}
