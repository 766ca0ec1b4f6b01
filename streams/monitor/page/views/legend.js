/** What the lines and bars of the leaderboard mean. Only what is drawn is explained. */

/** @import { Row } from "../types.ts" */

import { element } from "../shared/elements.js";
import { lineAbove } from "../shared/rows.js";

/** @type {[string, string][]} */
const ENTRIES = [
  ["same", "rank range, if the same judges were asked again"],
  ["band", "rank range for other judges of this kind"],
  ["solid", "line that holds for other judges too"],
  ["dashed", "line for these judges only, or not known for others"],
];

export class Legend {
  constructor() {
    this.entries = ENTRIES.map(([mark, meaning]) =>
      element("li", {}, element("i", { class: mark, "aria-hidden": "true" }), meaning),
    );
    this.root = element("ul", { class: "legend", "aria-label": "Legend of the leaderboard" }, this.entries);
  }

  /** @param {Row[]} rows */
  show(rows) {
    const lines = new Set(rows.map((row, place) => lineAbove(row, rows[place - 1])));
    const drawn = [
      rows.length > 1,
      rows.some(({ judge_rank_low }) => judge_rank_low !== null),
      lines.has("solid"),
      lines.has("dashed"),
    ];
    this.entries.forEach((entry, i) => (entry.hidden = !drawn[i]));
    this.root.hidden = !drawn.includes(true);
  }
}
