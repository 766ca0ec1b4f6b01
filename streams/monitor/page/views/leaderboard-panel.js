/** The leaderboard with its tools: filter, hold, download. */

/** @import { Board } from "../live/board.js" */
/** @import { CampaignView } from "./campaign.js" */

import { Chart } from "../charts/chart.js";
import { leaderboardChart } from "../charts/leaderboard.js";
import { button, element, isBeingSelected } from "../shared/elements.js";
import { saveCsv, saveSvg } from "../shared/save.js";
import { LeaderboardTable } from "./leaderboard-table.js";

export class LeaderboardPanel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    this.campaign = campaign;
    this.held = false;
    this.table = new LeaderboardTable(campaign.choice);
    /** @type {HTMLInputElement} */
    this.filter = element("input", {
      type: "search",
      "aria-label": "Filter the systems",
      placeholder: "Filter systems",
      input: () => this.table.setFilter(this.filter.value),
    });
    this.hold = button("Hold", () => this.toggle(), {
      "aria-pressed": "false",
      title: "Stop updating the leaderboard for a while",
    });
    const svg = button("SVG", () => this.saveFigure(), { "aria-label": "Download the leaderboard as SVG" });
    const csv = button("CSV", () => saveCsv(this.file, this.table.csv()), {
      "aria-label": "Download the leaderboard as CSV",
    });
    this.root = element(
      "section",
      { class: "panel", "aria-labelledby": "leaderboard-title" },
      element(
        "div",
        { class: "panel-head" },
        element("h2", { id: "leaderboard-title" }, "Leaderboard"),
        element("div", { class: "tools" }, this.filter, this.hold, svg, csv),
      ),
      this.table.root,
    );
  }

  get file() {
    return `${this.campaign.name}-leaderboard`;
  }

  /** @param {Board} board */
  show(board) {
    if (!this.held && !isBeingSelected(this.table.root)) this.table.show(board);
  }

  toggle() {
    this.held = !this.held;
    this.hold.setAttribute("aria-pressed", String(this.held));
    this.show(this.campaign.board);
  }

  /** Draw the leaderboard as a hidden chart, and save that. */
  async saveFigure() {
    const chart = new Chart();
    chart.root.hidden = true;
    this.root.append(chart.root);
    await chart.draw(`Leaderboard of ${this.campaign.name}`, leaderboardChart(this.campaign.board.ranked()));
    const svg = chart.svg();
    if (svg) saveSvg(this.file, svg);
    chart.root.remove();
  }
}
