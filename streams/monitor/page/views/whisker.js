/** The rank ranges of a row as a whisker: a line for the same judges, a pale band for others, and a dot at the rank. */

/** @import { Row } from "../types.ts" */

import { svgElement } from "../shared/elements.js";

const MANY = 40; // systems

export class Whisker {
  constructor() {
    this.range = svgElement("rect", { class: "range", y: "50%", height: 2, rx: 1 });
    this.others = svgElement("rect", { class: "other-range", y: "50%", height: 8, rx: 2 });
    this.dot = svgElement("circle", { cy: "50%", r: 4 });
    this.root = svgElement("svg", { class: "whisker", "aria-hidden": "true" }, this.others, this.range, this.dot);
  }

  /**
   * Draw a row. With many systems a range is not much longer than the dot; then both are smaller.
   * @param {Row} row
   * @param {number} places
   */
  show({ rank, rank_low, rank_high, judge_rank_low, judge_rank_high }, places) {
    /** @param {number} place */
    const at = (place) => `${(100 * (place - 0.5)) / places}%`;
    /** @param {SVGRectElement} bar */
    const draw = (bar, low = rank, high = rank) => {
      bar.style.x = at(low);
      bar.style.width = `${(100 * (high - low)) / places}%`;
    };
    draw(this.range, rank_low, rank_high);
    draw(this.others, judge_rank_low ?? undefined, judge_rank_high ?? undefined);
    this.root.classList.toggle("fine", places > MANY);
    this.dot.style.cx = at(rank);
  }
}
