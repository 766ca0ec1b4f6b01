/** A rank range as a whisker in its row: a line from the best rank to the worst, and a dot at the rank itself. */

import { drawing } from "../shared/elements.js";

const MANY = 40; // systems

export class Whisker {
  constructor() {
    this.range = drawing("rect", { class: "range", y: "50%", height: 2, rx: 1 });
    this.dot = drawing("circle", { cy: "50%", r: 4 });
    this.root = drawing("svg", { class: "whisker", "aria-hidden": "true" }, this.range, this.dot);
  }

  /** Among many systems a range is only a little longer than a dot is wide; then both are drawn finer. */
  show({ rank, rank_low, rank_high }, systems) {
    const at = (place) => `${(100 * (place - 0.5)) / systems}%`;
    this.range.style.x = at(rank_low);
    this.range.style.width = `${(100 * (rank_high - rank_low)) / systems}%`;
    this.root.classList.toggle("fine", systems > MANY);
    this.dot.style.cx = at(rank);
  }
}
