/** The leaderboard as a table that moves: one row a system, its rank range as a whisker, clusters ruled off. */

import { glide } from "../live/flip.js";
import { asCsv } from "../shared/csv.js";
import { element, named, say } from "../shared/elements.js";
import { count, decimal, decimalsFor, ranks } from "../shared/format.js";
import { Whisker } from "./whisker.js";

export class Leaderboard {
  /** `choice` holds the systems that the chart of the ratings shows; a click on a name changes it. */
  constructor(choice) {
    this.choice = choice;
    this.lines = new Map();
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
        "Leaderboard: systems by rank, with the ranks that each may have at 95 percent",
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

  show(board) {
    const rows = board.ranked();
    const digits = decimalsFor(rows.map((row) => row.deviation));
    say(this.last, String(rows.length));
    for (const row of rows) this.line(row.system).show(row, { systems: rows.length, digits });
    const order = rows.map((row) => this.lines.get(row.system).root);
    if (!sameOrder(this.body.rows, order)) this.reorder(order);
    this.rule(rows);
    this.rows = rows;
    this.sieve();
  }

  line(system) {
    if (!this.lines.has(system)) this.lines.set(system, new Line(system, this.choice));
    return this.lines.get(system);
  }

  reorder(order) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    glide([...this.body.rows], () => {
      for (const [system, line] of this.lines) if (!order.includes(line.root)) this.lines.delete(system);
      for (const root of [...this.body.rows]) if (!order.includes(root)) root.remove();
      order.forEach((root, place) => {
        if (this.body.rows[place] !== root) this.body.insertBefore(root, this.body.rows[place] ?? null);
      });
    });
    if (focused?.isConnected) focused.focus({ preventScroll: true });
  }

  rule(rows) {
    rows.forEach((row, place) => {
      const begins = place > 0 && row.cluster !== rows[place - 1].cluster;
      const { root } = this.lines.get(row.system);
      root.classList.toggle("ruled", begins);
      root.dataset.cluster = row.cluster;
    });
  }

  /** Show only the systems whose name holds this text. */
  sift(text) {
    this.filter = text.toLowerCase();
    this.sieve();
  }

  sieve() {
    for (const [system, { root }] of this.lines) root.hidden = !system.toLowerCase().includes(this.filter);
  }

  csv() {
    const fields = ["rank", "system", "rank_low", "rank_high", "cluster", "score", "deviation", "judgments"];
    return asCsv(
      fields,
      (this.rows ?? []).map((row) => fields.map((field) => row[field])),
    );
  }
}

/** One row, changed in place. */
class Line {
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
        title: "Show or hide its rating over time",
        click: () => choice.toggle(system),
      },
      this.swatch,
      named(system),
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
    choice.onChange(() => this.mark(choice.colourOf(system)));
    this.mark(choice.colourOf(system));
  }

  mark(colour) {
    this.name.setAttribute("aria-pressed", String(colour !== null));
    this.swatch.style.background = colour ?? "";
  }

  show(row, { systems, digits }) {
    say(this.rank, String(row.rank));
    say(this.ranks, ranks(row.rank_low, row.rank_high));
    this.whisker.show(row, systems);
    say(this.score, decimal(row.score, digits));
    say(this.deviation, decimal(row.deviation, digits));
    say(this.judgments, count(row.judgments));
  }
}

function heading(text, style = null, meaning = null) {
  const label = meaning ? element("abbr", { title: meaning }, text) : text;
  return element("th", { scope: "col", class: style }, label);
}

function sameOrder(rows, order) {
  return rows.length === order.length && order.every((root, place) => rows[place] === root);
}
