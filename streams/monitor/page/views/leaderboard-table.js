/** The leaderboard as a table: one row per system, rank ranges as whiskers, lines between clusters. */

/** @import { Row } from "../types.ts" */
/** @import { Board } from "../live/board.js" */
/** @import { Choice } from "./choice.js" */

import { glide } from "../live/glide.js";
import { toCsv } from "../shared/csv.js";
import { element, nameElement, setText } from "../shared/elements.js";
import { count, decimal, decimalsFor, rankRange } from "../shared/format.js";
import { Whisker } from "./whisker.js";

export class LeaderboardTable {
  /**
   * A click on a name changes the choice, which the chart of the ratings shows.
   * @param {Choice} choice
   */
  constructor(choice) {
    this.choice = choice;
    /** @type {Map<string, Line>} */
    this.lines = new Map();
    /** @type {Row[]} */
    this.rows = [];
    this.filter = "";
    this.body = element("tbody");
    this.last = element("span");
    const axis = element("span", { class: "axis", "aria-hidden": "true" }, element("span", {}, "1"), this.last);
    this.root = element(
      "table",
      { class: "board" },
      element(
        "caption",
        { class: "unseen" },
        "Leaderboard: systems by rank, with 95 percent rank ranges",
      ),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          heading("#", "number rank", "Rank"),
          heading("System"),
          heading("Ranks", "number ranks"),
          element("th", { class: "plot", "aria-hidden": "true" }, axis),
          heading("Score", "number score"),
          heading("±", "number minor deviation", "Deviation"),
          heading("Judgments", "number minor judgments"),
        ),
      ),
      this.body,
    );
  }

  /** @param {Board} board */
  show(board) {
    const rows = board.ranked();
    const digits = decimalsFor(rows.map((row) => row.deviation));
    setText(this.last, String(rows.length));
    for (const row of rows) this.line(row.system).show(row, rows.length, digits);
    const order = rows.map((row) => this.line(row.system).root);
    if (!isSameOrder(this.body.rows, order)) this.reorder(order);
    this.drawLines(rows);
    this.rows = rows;
    this.applyFilter();
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
      const isFirst = place > 0 && row.cluster !== rows[place - 1].cluster;
      const { root } = this.line(row.system);
      root.classList.toggle("ruled", isFirst);
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
  }

  csv() {
    /** @type {(keyof Row)[]} */
    const fields = ["rank", "system", "rank_low", "rank_high", "cluster", "score", "deviation", "judgments"];
    return toCsv(
      fields,
      this.rows.map((row) => fields.map((field) => row[field])),
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
    this.whisker = new Whisker();
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
      element("td", { class: "plot" }, this.whisker.root),
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
   * @param {number} systems
   * @param {number} digits
   */
  show(row, systems, digits) {
    setText(this.rank, String(row.rank));
    setText(this.ranks, rankRange(row.rank_low, row.rank_high));
    this.whisker.show(row, systems);
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
