/** Rows glide to their new places and are tinted for a moment. Only a transform moves them. */

const GLIDE = { duration: 450, easing: "cubic-bezier(.2, .7, .2, 1)" };
const TINT = { duration: 1600, easing: "ease-out" };
const MARGIN = 100; // pixels outside the window within which a row still moves

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
/** @type {WeakMap<Element, Animation>} */
const animations = new WeakMap(); // remembered, because asking the browser for them costs a layout

/**
 * Change the order of rows with an animation.
 * @param {HTMLElement[]} rows
 * @param {() => void} reorder
 */
export function glide(rows, reorder) {
  if (reducedMotion.matches) return reorder();
  const before = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
  for (const row of rows) animations.get(row)?.cancel();
  reorder();
  /** @type {[HTMLElement, number][]} */
  const moves = [];
  for (const [row, top] of before) {
    if (!row.isConnected) continue;
    const now = row.getBoundingClientRect().top;
    if (Math.abs(top - now) >= 1 && (isInSight(top) || isInSight(now))) moves.push([row, top - now]);
  }
  for (const [row, distance] of moves) move(row, distance);
}

/** @param {number} top */
const isInSight = (top) => top > -MARGIN && top < innerHeight + MARGIN;

/**
 * @param {HTMLElement} row
 * @param {number} distance
 */
function move(row, distance) {
  animations.set(row, row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], GLIDE));
  const colour = distance > 0 ? "var(--rose)" : "var(--fell)";
  row.animate([{ backgroundColor: colour }, { backgroundColor: "var(--page)" }], TINT);
}
