/** A share as a short bar; the number itself stands beside it in words. */

import { element } from "../shared/elements.js";

export function meter(share) {
  const fill = element("span");
  fill.style.width = `${100 * Math.min(1, Math.max(0, share ?? 0))}%`;
  return element("span", { class: "meter", "aria-hidden": "true" }, fill);
}
