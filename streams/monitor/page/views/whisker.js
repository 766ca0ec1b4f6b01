/** The rank range of a row as a whisker: a line from the best rank to the worst, and a dot at the rank. */

/** @import { Row } from "../types.ts" */

import { svgElement } from "../shared/elements.js";

const MANY = 40; // systems

export class Whisker {
  constructor() {
    this.range = svgElement("rect", { class: "range", y: "50%", height: 2, rx: 1 });
    this.dot = svgElement("circle", { cy: "50%", r: 4 });
    this.root = svgElement("svg", { class: "whisker", "aria-hidden": "true" }, this.range, this.dot);
  }

  /**
   * Draw a row. With many systems a range is not much longer than the dot; then both are smaller.
   * @param {Row} row
   * @param {number} systems
   */
  show({ rank, rank_low, rank_high }, systems) {
    /** @param {number} place */
    const at = (place) => `${(100 * (place - 0.5)) / systems}%`;
    this.range.style.x = at(rank_low);
    this.range.style.width = `${(100 * (rank_high - rank_low)) / systems}%`;
    this.root.classList.toggle("fine", systems > MANY);
    this.dot.style.cx = at(rank);
  }
}
