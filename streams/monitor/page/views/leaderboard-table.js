/** The leaderboard as a table: one row per system, rank ranges as whiskers, lines between clusters, island by island. */

/** @import { Row } from "../types.ts" */
/** @import { Choice } from "./choice.js" */

import { glide } from "../live/glide.js";
import { toCsv } from "../shared/csv.js";
import { element, nameElement, setText } from "../shared/elements.js";
import { count, decimal, decimalsFor, rankRange } from "../shared/format.js";
import { describeIsland, islandsOf, lineAbove } from "../shared/rows.js";
import { Whisker } from "./whisker.js";

/** The lines for screen readers. */
const SPOKEN = {
  solid: ", below a line that holds for other judges too",
  dashed: ", below a line for these judges only",
};

export class LeaderboardTable {
  /**
   * A click on a name changes the choice, which the chart of the ratings shows.
   * @param {Choice} choice
   */
  constructor(choice) {
    this.choice = choice;
    /** @type {Map<string, Line>} */
    this.lines = new Map();
    /** @type {HTMLTableRowElement[]} */
    this.islands = []; // a heading for each, if there are several
    /** @type {Row[]} */
    this.rows = [];
    this.scale = "score";
    this.filter = "";
    this.body = element("tbody");
    this.last = element("span");
    this.score = heading("Score", "number score");
    const axis = element("span", { class: "axis", "aria-hidden": "true" }, element("span", {}, "1"), this.last);
    this.root = element(
      "table",
      { class: "board" },
      element(
        "caption",
        { class: "unseen" },
        "Leaderboard: systems by rank, with 95 percent rank ranges for the same judges and for other judges",
      ),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          heading("#", "number rank", "Rank"),
          heading("System"),
          heading("Ranks", "number ranks", "Rank range at 95 %, if the same judges were asked again"),
          heading("Others", "number minor others", "Rank range at 95 % for other judges of this kind"),
          element("th", { scope: "col", class: "plot" }, element("span", { class: "unseen" }, "Cluster"), axis),
          this.score,
          heading("±", "number minor deviation", "Deviation"),
          heading("Judgments", "number minor judgments"),
        ),
      ),
      this.body,
    );
  }

  /**
   * @param {Row[]} rows island by island, the best first
   * @param {string} scale "score" or "elo"
   */
  show(rows, scale) {
    const islands = islandsOf(rows);
    const places = Math.max(0, ...islands.map((members) => members.length));
    const digits = scale === "elo" ? 0 : decimalsFor(rows.map((row) => row.deviation));
    setText(this.last, String(places));
    setText(this.score, scale === "elo" ? "Elo" : "Score");
    this.root.classList.toggle("unknown-others", rows.every((row) => row.judge_rank_low === null));
    for (const row of rows) this.line(row.system).show(row, places, digits);
    this.showIslands(islands);
    const order = islands.flatMap((members, i) => [
      ...(this.islands[i] ? [this.islands[i]] : []),
      ...members.map((row) => this.line(row.system).root),
    ]);
    if (!isSameOrder(this.body.rows, order)) this.reorder(order);
    this.drawLines(rows);
    this.rows = rows;
    this.scale = scale;
    this.applyFilter();
  }

  /**
   * Show a heading for each island, if there are several.
   * @param {Row[][]} islands
   */
  showIslands(islands) {
    const shown = islands.length > 1 ? islands : [];
    this.islands.length = Math.min(this.islands.length, shown.length);
    shown.forEach((members, i) => {
      this.islands[i] ??= element("tr", { class: "island" }, element("th", { scope: "rowgroup", colspan: 8 }));
      setText(this.islands[i].cells[0], describeIsland(members, i + 1));
    });
  }

  /** @param {string} system */
  line(system) {
    const line = this.lines.get(system) ?? new Line(system, this.choice);
    this.lines.set(system, line);
    return line;
  }

  /** @param {HTMLTableRowElement[]} order */
  reorder(order) {
    const active = document.activeElement;
    const focused = active instanceof HTMLElement && this.body.contains(active) ? active : null;
    glide([...this.body.rows], () => {
      for (const [system, line] of this.lines) if (!order.includes(line.root)) this.lines.delete(system);
      for (const root of [...this.body.rows]) if (!order.includes(root)) root.remove();
      order.forEach((root, place) => {
        if (this.body.rows[place] !== root) this.body.insertBefore(root, this.body.rows[place] ?? null);
      });
    });
    if (focused?.isConnected) focused.focus({ preventScroll: true });
  }

  /**
   * Draw a line above the first row of each cluster.
   * @param {Row[]} rows
   */
  drawLines(rows) {
    rows.forEach((row, place) => {
      const line = lineAbove(row, rows[place - 1]);
      const { root, cluster } = this.line(row.system);
      setText(cluster, `${row.cluster}${line ? SPOKEN[line] : ""}`);
      root.classList.toggle("ruled", line !== null);
      root.classList.toggle("dashed", line === "dashed");
      root.dataset.cluster = String(row.cluster);
    });
  }

  /**
   * Show only the systems whose name contains a text.
   * @param {string} text
   */
  setFilter(text) {
    this.filter = text.toLowerCase();
    this.applyFilter();
  }

  applyFilter() {
    for (const [system, { root }] of this.lines) root.hidden = !system.toLowerCase().includes(this.filter);
    for (const heading of this.islands) heading.hidden = this.filter !== "";
  }

  csv() {
    /** @type {(keyof Row)[]} */
    const fields = ["rank", "system", "rank_low", "rank_high", "cluster", "score", "deviation", "judgments"];
    fields.push("judge_rank_low", "judge_rank_high", "line_above", "island");
    return toCsv(
      [...fields, "scale"],
      this.rows.map((row) => [...fields.map((field) => row[field]), this.scale]),
    );
  }
}

/** One row. It is changed in place. */
class Line {
  /**
   * @param {string} system
   * @param {Choice} choice
   */
  constructor(system, choice) {
    this.rank = element("td", { class: "number rank" });
    this.ranks = element("td", { class: "number ranks" });
    this.others = element("td", { class: "number minor others" });
    this.whisker = new Whisker();
    this.cluster = element("span", { class: "unseen" });
    this.score = element("td", { class: "number" });
    this.deviation = element("td", { class: "number minor faint" });
    this.judgments = element("td", { class: "number minor faint" });
    this.swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    this.name = element(
      "button",
      {
        type: "button",
        class: "name",
        "aria-pressed": "false",
        title: "Show or hide the rating over time",
        click: () => choice.toggle(system),
      },
      this.swatch,
      nameElement(system),
    );
    this.root = element(
      "tr",
      {},
      this.rank,
      element("th", { scope: "row", class: "system" }, this.name),
      this.ranks,
      this.others,
      element("td", { class: "plot" }, this.whisker.root, this.cluster),
      this.score,
      this.deviation,
      this.judgments,
    );
    this.root.dataset.system = system;
    choice.onChange(() => this.showColour(choice.colourOf(system)));
    this.showColour(choice.colourOf(system));
  }

  /** @param {string | null} colour */
  showColour(colour) {
    this.name.setAttribute("aria-pressed", String(colour !== null));
    this.swatch.style.background = colour ?? "";
  }

  /**
   * @param {Row} row
   * @param {number} places
   * @param {number} digits
   */
  show(row, places, digits) {
    setText(this.rank, String(row.rank));
    setText(this.ranks, rankRange(row.rank_low, row.rank_high));
    setText(this.others, row.judge_rank_low === null ? "?" : rankRange(row.judge_rank_low, row.judge_rank_high));
    this.whisker.show(row, places);
    setText(this.score, decimal(row.score, digits));
    setText(this.deviation, decimal(row.deviation, digits));
    setText(this.judgments, count(row.judgments));
  }
}

/**
 * @param {string} text
 * @param {string | null} style
 * @param {string | null} meaning
 */
function heading(text, style = null, meaning = null) {
  const label = meaning ? element("abbr", { title: meaning }, text) : text;
  return element("th", { scope: "col", class: style }, label);
}

/**
 * @param {HTMLCollectionOf<HTMLTableRowElement>} rows
 * @param {HTMLTableRowElement[]} order
 */
function isSameOrder(rows, order) {
  return rows.length === order.length && order.every((root, place) => rows[place] === root);
}
