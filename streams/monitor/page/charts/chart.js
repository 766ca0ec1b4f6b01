/** A chart's place on the page: drawn by Plot to the width there is, told in words, saved as an SVG that stands alone. */

import { element } from "../shared/elements.js";
import { library } from "./library.js";
import { standalone } from "./standalone.js";

const mice = matchMedia("(hover: hover)");

export class Chart {
  constructor() {
    this.root = element("div", { class: "chart" });
  }

  get width() {
    return Math.max(280, this.root.clientWidth);
  }

  /** Whether someone points at it, and would lose what they read by a new drawing. */
  get isPointedAt() {
    return mice.matches && this.root.matches(":hover");
  }

  /** Draw what `options` makes of Plot and the width; `label` says it to those who can't see it. */
  async draw(label, options) {
    const Plot = await library();
    const drawn = Plot.plot({
      width: this.width,
      style: {
        background: "transparent",
        color: "var(--ink)",
        fontFamily: "inherit",
        fontSize: "11.5px",
        overflow: "visible",
      },
      ...options(Plot, this.width),
    });
    // An image is one thing to a screen reader; what Plot says of its parts would be in the way.
    for (const part of drawn.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", label);
    this.root.replaceChildren(drawn);
  }

  /** Say that there is nothing to draw yet. */
  empty(text) {
    this.root.replaceChildren(element("p", { class: "nothing" }, text));
  }

  svg() {
    const drawn = this.root.querySelector("svg");
    return drawn && standalone(drawn);
  }
}

/** A name short enough for an axis; the whole of it is in the table beside. */
export const shortened = (name, most) => (name.length <= most ? name : `${name.slice(0, most - 1)}…`);

/** The room that names take at the left of a chart. */
export function roomFor(names, most) {
  const longest = names.reduce((length, name) => Math.max(length, shortened(name, most).length), 0);
  return 18 + 6.9 * longest;
}
