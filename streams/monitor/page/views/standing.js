/** The leaderboard with its tools: to filter it, to hold it still, and to take it along. */

import { Chart } from "../charts/chart.js";
import { standingChart } from "../charts/standing.js";
import { button, element, isBeingSelected } from "../shared/elements.js";
import { saveCsv, saveSvg } from "../shared/save.js";
import { Leaderboard } from "./leaderboard.js";

export class Standing {
  constructor(campaign) {
    this.campaign = campaign;
    this.held = false;
    this.leaderboard = new Leaderboard(campaign.choice);
    this.filter = element("input", {
      type: "search",
      "aria-label": "Filter the systems",
      placeholder: "Filter systems",
      input: () => this.leaderboard.sift(this.filter.value),
    });
    this.hold = button("Hold", () => this.toggle(), {
      "aria-pressed": "false",
      title: "Keep the leaderboard as it is for a while",
    });
    const svg = button("SVG", () => this.saveFigure(), { "aria-label": "Download the leaderboard as SVG" });
    const csv = button("CSV", () => saveCsv(this.file, this.leaderboard.csv()), {
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
      this.leaderboard.root,
    );
  }

  get file() {
    return `${this.campaign.name}-leaderboard`;
  }

  show(board) {
    if (!this.held && !isBeingSelected(this.leaderboard.root)) this.leaderboard.show(board);
  }

  toggle() {
    this.held = !this.held;
    this.hold.setAttribute("aria-pressed", String(this.held));
    this.show(this.campaign.board);
  }

  /** Draw the leaderboard as a chart out of sight, and save that. */
  async saveFigure() {
    const chart = new Chart();
    chart.root.hidden = true;
    this.root.append(chart.root);
    await chart.draw(`Leaderboard of ${this.campaign.name}`, standingChart(this.campaign.board.ranked()));
    saveSvg(this.file, chart.svg());
    chart.root.remove();
  }
}
