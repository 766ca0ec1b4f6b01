/** A share as a short bar. The number is beside it as text. */

import { element } from "../shared/elements.js";

export class Meter {
  constructor() {
    this.bar = element("span");
    this.root = element("span", { class: "meter", "aria-hidden": "true" }, this.bar);
  }

  /** @param {number} share */
  show(share) {
    this.bar.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    return this.root;
  }
}
