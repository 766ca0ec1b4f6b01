/** A place for a chart: drawn by Plot to the available width, with a text for screen readers, saved as SVG. */

/** @import { ChartOptions } from "../types.ts" */

import { element } from "../shared/elements.js";
import { loadPlot } from "./library.js";
import { standaloneSvg } from "./standalone.js";

const hover = matchMedia("(hover: hover)");

export class Chart {
  constructor() {
    this.root = element("div", { class: "chart" });
    /** @type {(isDrawn: boolean) => void} */
    this.onChange = () => {}; // called when a chart was drawn, or a text was shown instead
  }

  get width() {
    return Math.max(280, this.root.clientWidth);
  }

  /** Return whether the mouse is over the chart. Redrawing would remove the tooltip. */
  get isPointedAt() {
    return hover.matches && this.root.matches(":hover");
  }

  /**
   * Draw a chart.
   * @param {string} label the text for screen readers
   * @param {ChartOptions} options
   */
  async draw(label, options) {
    const Plot = await loadPlot();
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
    // To a screen reader the chart is one image. Plot's labels of its parts would be read as well.
    for (const part of drawn.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", label);
    this.root.replaceChildren(drawn);
    this.onChange(true);
  }

  /**
   * Show a text instead of a chart.
   * @param {string} text
   */
  empty(text) {
    this.root.replaceChildren(element("p", { class: "nothing" }, text));
    this.onChange(false);
  }

  /** Return the chart as the text of an SVG file, or null if nothing is drawn. */
  svg() {
    const drawn = this.root.querySelector("svg");
    return drawn && standaloneSvg(drawn);
  }
}

/**
 * Return a name that is short enough for an axis. The table has the full name.
 * @param {string} name
 * @param {number} most
 */
export const shorten = (name, most) => (name.length <= most ? name : `${name.slice(0, most - 1)}…`);

/**
 * Return the width in pixels of the names at the left of a chart.
 * @param {string[]} names
 * @param {number} most
 */
export function labelWidth(names, most) {
  const longest = names.reduce((length, name) => Math.max(length, shorten(name, most).length), 0);
  return 18 + 6.9 * longest;
}
