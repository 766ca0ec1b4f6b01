/** The leaderboard with its tools: scale, filter, hold, download. */

/** @import { Board } from "../live/board.js" */
/** @import { CampaignView } from "./campaign.js" */

import { Chart } from "../charts/chart.js";
import { leaderboardChart } from "../charts/leaderboard.js";
import { button, element, isBeingSelected, setText } from "../shared/elements.js";
import { sentence } from "../shared/format.js";
import { saveCsv, saveSvg } from "../shared/save.js";
import { Scale } from "../shared/scale.js";
import { CategoryChoice } from "./category-choice.js";
import { LeaderboardTable } from "./leaderboard-table.js";
import { Legend } from "./legend.js";

export class LeaderboardPanel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    this.campaign = campaign;
    this.held = false;
    this.shown = -1; // sequence of the leaderboard of all judgments
    this.table = new LeaderboardTable(campaign.choice);
    this.legend = new Legend();
    this.scale = new Scale();
    this.category = new CategoryChoice(campaign, {
      onChoice: () => this.rechoose(),
      onBoard: () => campaign.drawSoon(),
    });
    this.pending = element("p", { class: "trouble", role: "status" });
    this.unit = element(
      "select",
      { "aria-label": "Scale of the scores", title: "Elo: 400 points are odds of 10 to 1", change: () => this.rescale(() => this.scale.choose(this.unit.value)) },
      element("option", { value: "score" }, "Scores"),
      element("option", { value: "elo" }, "Elo"),
    );
    this.anchor = element("select", {
      "aria-label": "System with 1000 Elo points",
      class: "anchor",
      change: () => this.rescale(() => this.scale.chooseAnchor(this.anchor.value)),
    });
    this.anchorsKey = "";
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
    this.svg = button("SVG", () => this.saveFigure(), { "aria-label": "Download the leaderboard as SVG", disabled: true });
    const csv = button("CSV", () => saveCsv(this.file, this.table.csv()), {
      "aria-label": "Download the leaderboard as CSV",
    });
    this.root = element(
      "section",
      { class: "panel leaderboard", "aria-labelledby": "leaderboard-title" },
      element(
        "div",
        { class: "panel-head" },
        element("h2", { id: "leaderboard-title" }, "Leaderboard"),
        element("div", { class: "tools" }, this.category.root, this.unit, this.anchor, this.filter, this.hold, this.svg, csv),
      ),
      this.pending,
      this.table.root,
      this.legend.root,
      this.category.note,
      element(
        "p",
        { class: "note below" },
        "Each rank range holds for its system at 95 %, not for all systems at once.",
      ),
    );
  }

  get file() {
    return `${this.campaign.name}-leaderboard${this.category.suffix}`;
  }

  /**
   * Show the leaderboard of the chosen category, or this one of all judgments.
   * @param {Board} whole
   */
  show(whole) {
    if (whole.sequence !== this.shown) this.category.changed();
    this.shown = whole.sequence;
    const board = this.category.board ?? whole;
    setText(this.pending, this.campaign.figures.inTrouble ? "" : sentence(board.facts.pending ?? ""));
    this.svg.disabled = board.order.length === 0;
    if (this.held || isBeingSelected(this.table.root)) return;
    const perScore = board.facts.elo_per_score;
    const rows = this.scale.apply(board.ranked(), perScore);
    this.showScale(board);
    this.table.show(rows, this.scale.nameFor(perScore));
    this.legend.show(rows);
  }

  /**
   * Show the choice of the scale, if the model has odds, and of the anchor.
   * @param {Board} board
   */
  showScale({ facts: { elo_per_score: perScore }, order }) {
    this.unit.hidden = perScore === null;
    this.unit.value = this.scale.nameFor(perScore);
    this.anchor.hidden = this.unit.value !== "elo";
    const systems = order.toSorted();
    const key = systems.join("\n");
    if (key !== this.anchorsKey) {
      this.anchorsKey = key;
      this.anchor.replaceChildren(
        element("option", { value: "" }, "1000 at the mean"),
        ...systems.map((system) => element("option", { value: system }, `1000 at ${system}`)),
      );
    }
    this.anchor.value = order.includes(this.scale.anchor) ? this.scale.anchor : "";
  }

  rechoose() {
    this.held = false;
    this.hold.setAttribute("aria-pressed", "false");
    this.campaign.draw();
  }

  /** @param {() => void} choose */
  rescale(choose) {
    choose();
    this.rechoose(); // rows on the new scale are new rows
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
    const { rows, scale } = this.table;
    await chart.draw(`Leaderboard of ${this.campaign.name}`, leaderboardChart(rows, scale));
    const svg = chart.svg();
    if (svg) saveSvg(this.file, svg);
    chart.root.remove();
  }
}
