/** Two systems at a time: who beat whom, and where the judgments went. */

import { Chart } from "../charts/chart.js";
import { headToHead, meetings } from "../charts/squares.js";
import { button, named } from "../shared/elements.js";
import { count, percent } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const FIRST = 50; // systems in a square, unless someone wants all

const HALVES =
  "How often two systems met: above the diagonal in the first half of the judgments, below it in the second.";

const met = ({ wins, ties, losses }) => wins + ties + losses;

const NAMES = [
  { title: "System", value: ({ system }) => system, cell: ({ system }) => named(system) },
  { title: "Opponent", value: ({ opponent }) => opponent, cell: ({ opponent }) => named(opponent) },
];

const number = (title, value, more = {}) => ({
  title,
  numeric: true,
  value,
  text: (row) => count(value(row)),
  ...more,
});

/** A square of the systems, with a table of the same beside it. */
class SquarePanel extends Panel {
  constructor(campaign, about, table) {
    super(campaign, { every: 5000, room: 460, ...about });
    this.all = button("All systems", () => this.toggle(), { "aria-pressed": "false", hidden: true });
    this.tools.append(this.all);
    this.chart = new Chart();
    this.addChart(this.chart);
    this.table = new Table(table);
    this.addTable(this.table, { folded: "The same as a table" });
  }

  load() {
    return this.campaign.pairs();
  }

  toggle() {
    this.whole = !this.whole;
    this.all.setAttribute("aria-pressed", String(this.whole));
    this.show(this.data);
  }

  /** Say what the numbers do not. */
  explain() {}

  async show({ systems, pairs }) {
    this.all.hidden = systems.length <= FIRST;
    this.table.show(pairs);
    this.explain(pairs);
    if (!pairs.length) return this.chart.empty("No two systems have met yet.");
    await this.chart.draw(this.label(systems), this.square(this.whole ? systems : systems.slice(0, FIRST), pairs));
  }
}

export class HeadToHeadPanel extends SquarePanel {
  constructor(campaign) {
    super(
      campaign,
      {
        id: "head-to-head",
        title: "Head to head",
        about:
          "How often the system of the row was preferred to the one of the column, in percent, ties ignored. Columns are ranks; blue won, orange lost, empty never met.",
      },
      {
        caption: "Head to head: wins, ties and losses of each pair",
        sort: "Met",
        cards: true,
        columns: [
          ...NAMES,
          number("Met", met),
          number("Wins", ({ wins }) => wins),
          number("Ties", ({ ties }) => ties, { minor: true }),
          number("Losses", ({ losses }) => losses),
          {
            title: "Win rate",
            numeric: true,
            value: ({ win_rate }) => win_rate,
            text: ({ win_rate }) => percent(win_rate),
          },
        ],
      },
    );
  }

  label(systems) {
    return `Heat map of ${systems.length} systems against each other: the share of wins of the row over the column; the numbers are in the table below`;
  }

  square(systems, pairs) {
    return headToHead(systems, pairs);
  }
}

export class MeetingsPanel extends SquarePanel {
  constructor(campaign) {
    super(
      campaign,
      {
        id: "pairs",
        title: "Where the judgments went",
        short: "Pairs",
        about: HALVES,
      },
      {
        caption: "Where the judgments went: how often each pair met, early and late",
        sort: "Met",
        columns: [
          ...NAMES,
          number("Met", met),
          number("Early", ({ early }) => early, { optional: true, about: "In the first half of the judgments" }),
          number("Late", ({ late }) => late, { optional: true, about: "In the second half" }),
        ],
      },
    );
  }

  explain(pairs) {
    const unknown = pairs.some(({ early }) => early === null);
    this.note.textContent = unknown
      ? "How often two systems met. The monitor was not there for the first half, so both sides of the diagonal show all of it."
      : HALVES;
  }

  label(systems) {
    return `Heat map of how often each of ${systems.length} systems met each other, early and late; the numbers are in the table below`;
  }

  square(systems, pairs) {
    return meetings(systems, pairs);
  }
}
