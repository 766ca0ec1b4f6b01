/** Pairs of systems: who won, and how often they met. */

/** @import { Column, ChartOptions, Pair, PairsPayload, PanelOptions, TableOptions } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { Chart } from "../charts/chart.js";
import { headToHead, meetings } from "../charts/squares.js";
import { button, nameElement } from "../shared/elements.js";
import { count, percent } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const FIRST = 50; // systems in a square at first

const HALVES =
  "How often two systems met: above the diagonal in the first half of the judgments, below it in the second half.";

/** @param {Pair} pair */
const met = ({ wins, ties, losses }) => wins + ties + losses;

/** @type {Column<Pair>[]} */
const NAMES = [
  { title: "System", value: ({ system }) => system, cell: ({ system }) => nameElement(system) },
  { title: "Opponent", value: ({ opponent }) => opponent, cell: ({ opponent }) => nameElement(opponent) },
];

/**
 * @param {string} title
 * @param {(pair: Pair) => number | null} value
 * @param {Partial<Column<Pair>>} more
 * @returns {Column<Pair>}
 */
const number = (title, value, more = {}) => ({
  title,
  numeric: true,
  value,
  text: (row) => count(value(row)),
  ...more,
});

/** A square of the systems, with the same numbers as a table. */
class SquarePanel extends Panel {
  /**
   * @param {CampaignView} campaign
   * @param {PanelOptions} about
   * @param {TableOptions<Pair>} table
   */
  constructor(campaign, about, table) {
    super(campaign, { every: 5000, room: 460, ...about });
    this.whole = false;
    this.all = button("All systems", () => this.toggle(), { "aria-pressed": "false", hidden: true });
    this.tools.append(this.all);
    this.chart = new Chart();
    this.addChart(this.chart);
    this.table = new Table(table);
    this.addTable(this.table, { folded: "Show as a table" });
  }

  /** @returns {Promise<PairsPayload>} */
  load() {
    return this.campaign.pairs();
  }

  toggle() {
    this.whole = !this.whole;
    this.all.setAttribute("aria-pressed", String(this.whole));
    this.redraw();
  }

  /**
   * Explain the numbers.
   * @param {Pair[]} _pairs
   */
  explain(_pairs) {}

  /**
   * Return the chart's text for screen readers.
   * @param {string[]} _systems
   */
  label(_systems) {
    return "";
  }

  /**
   * @param {string[]} systems
   * @param {Pair[]} pairs
   * @returns {ChartOptions}
   */
  square(systems, pairs) {
    return headToHead(systems, pairs);
  }

  /** @param {PairsPayload} payload */
  async show({ systems, pairs }) {
    this.all.hidden = systems.length <= FIRST;
    this.table.show(pairs);
    this.explain(pairs);
    if (!pairs.length)
      return this.chart.empty(this.campaign.isScored ? "Judges score one system at a time." : "No two systems have met yet.");
    await this.chart.draw(this.label(systems), this.square(this.whole ? systems : systems.slice(0, FIRST), pairs));
  }
}

export class HeadToHeadPanel extends SquarePanel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(
      campaign,
      {
        id: "head-to-head",
        title: "Head to head",
        about:
          "How often the row's system was preferred to the column's, in percent, without ties. Columns are ranks. Blue: won more often. Orange: lost more often. Empty: never met.",
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

  /** @param {string[]} systems */
  label(systems) {
    return `Heat map of ${systems.length} systems against each other: the share of wins of the row against the column; the table below has the numbers`;
  }

}

export class MeetingsPanel extends SquarePanel {
  /** @param {CampaignView} campaign */
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
          number("Late", ({ late }) => late, { optional: true, about: "In the second half of the judgments" }),
        ],
      },
    );
  }

  /** @param {Pair[]} pairs */
  explain(pairs) {
    const unknown = pairs.some(({ early }) => early === null);
    this.note.textContent = unknown
      ? "How often two systems met. The counts at half of the judgments are not known, so both sides of the diagonal show the total."
      : HALVES;
  }

  /** @param {string[]} systems */
  label(systems) {
    return `Heat map of how often each of ${systems.length} systems met each other, early and late; the table below has the numbers`;
  }

  /**
   * @param {string[]} systems
   * @param {Pair[]} pairs
   */
  square(systems, pairs) {
    return meetings(systems, pairs);
  }
}
