/** Ratings over time: all samples are loaded once, then each event adds one. */

/** @import { Column, HistoryPayload, HistoryUpdate, Sample } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { Chart } from "../charts/chart.js";
import { ratingsChart } from "../charts/ratings.js";
import { button, element, nameElement } from "../shared/elements.js";
import { count, counted } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const MOST_SAMPLES = 600; // above this, every other one is dropped

/** @typedef {{ system: string, judgments: number, rank: number | null, score: number | null, deviation: number | null }} RatingRow */
/** @import { Choice } from "../views/choice.js" */

export class RatingsPanel extends Panel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(campaign, {
      id: "ratings",
      room: 460,
      title: "Ratings over time",
      short: "Ratings",
      about:
        "Bands show two deviations on either side. Click a system on the leaderboard, or add it here, to show or hide it.",
      every: 1000,
    });
    /** @type {HistoryPayload | null} */
    this.history = null;
    this.chipsKey = "";
    this.chips = element("ul", { class: "chips", "aria-label": "Systems shown" });
    this.options = element("datalist", { id: "ratings-systems" });
    this.field = element("input", {
      type: "search",
      list: "ratings-systems",
      placeholder: "Add a system",
      "aria-label": "Add a system to the chart",
      change: () => this.add(),
    });
    this.tools.append(this.field, this.options);
    this.body.append(this.chips);
    this.chart = new Chart();
    this.addChart(this.chart);
    this.table = new Table({ caption: "Ratings over time of the systems shown", columns: COLUMNS });
    this.addTable(this.table, { folded: "Show as a table" });
    campaign.choice.onChange(() => this.redraw());
  }

  add() {
    const system = this.field.value;
    if (!this.campaign.board.rows.has(system)) return;
    this.field.value = "";
    if (this.campaign.choice.colourOf(system) === null) this.campaign.choice.toggle(system);
  }

  /** @returns {Promise<HistoryPayload>} */
  async load() {
    this.history ??= /** @type {HistoryPayload} */ (await this.campaign.fetch("/history"));
    return this.history;
  }

  /**
   * Add a sample. Its systems may be more, and in another order.
   * @param {HistoryUpdate} update
   */
  addSample({ systems, sample }) {
    const known = this.history;
    if (known && sample.sequence > (known.samples.at(-1)?.sequence ?? -1)) {
      known.systems.push(...systems.filter((system) => !known.systems.includes(system)));
      known.samples.push(align(sample, systems, known.systems));
    }
    if (known && known.samples.length > MOST_SAMPLES) known.samples = known.samples.filter((_, i) => i % 2 === 0);
    this.changed();
  }

  /** Load all samples again, because some were missed while the connection was lost. */
  reload() {
    this.history = null;
    this.changed();
  }

  /** @param {HistoryPayload} history */
  async show(history) {
    const { choice, board } = this.campaign;
    this.showChips(choice);
    if (this.options.children.length !== board.order.length) {
      this.options.replaceChildren(...board.order.map((system) => element("option", { value: system })));
    }
    if (history.samples.length < 2) return this.chart.empty("A line needs at least two samples.");
    const last = history.samples[history.samples.length - 1];
    const label = `Ratings of ${choice.systems.join(", ") || "all systems"} over ${counted(last.judgments, "judgment")}; the table below has the numbers`;
    await this.chart.draw(label, ratingsChart(history, choice));
    this.table.show(rowsOf(history, choice.systems));
  }

  /** @param {Choice} choice */
  showChips(choice) {
    const key = choice.systems.join("\n");
    if (key === this.chipsKey) return;
    this.chipsKey = key;
    this.chips.replaceChildren(
      ...choice.systems.map((system) => {
        const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.background = choice.colourOf(system) ?? "";
        const remove = button("×", () => choice.toggle(system), { "aria-label": `Hide ${system}` });
        return element("li", {}, swatch, nameElement(system), remove);
      }),
    );
  }
}

/** @type {Column<RatingRow>[]} */
const COLUMNS = [
  { title: "System", value: ({ system }) => system, cell: ({ system }) => nameElement(system) },
  { title: "Judgments", numeric: true, value: ({ judgments }) => judgments, text: ({ judgments }) => count(judgments) },
  { title: "Rank", numeric: true, value: ({ rank }) => rank },
  { title: "Score", numeric: true, value: ({ score }) => score },
  { title: "Deviation", numeric: true, value: ({ deviation }) => deviation },
];

/**
 * Return a sample with its values in another order of systems.
 * @param {Sample} sample
 * @param {string[]} systems
 * @param {string[]} wanted
 * @returns {Sample}
 */
function align(sample, systems, wanted) {
  const places = wanted.map((system) => systems.indexOf(system));
  /** @param {(number | null)[]} values */
  const reorder = (values) => places.map((place) => values[place] ?? null);
  return { ...sample, scores: reorder(sample.scores), deviations: reorder(sample.deviations), ranks: reorder(sample.ranks) };
}

/**
 * @param {HistoryPayload} history
 * @param {string[]} chosen
 * @returns {RatingRow[]}
 */
function rowsOf({ systems, samples }, chosen) {
  return chosen.flatMap((system) => {
    const place = systems.indexOf(system);
    return samples
      .filter(({ scores }) => (scores[place] ?? null) !== null)
      .map(({ judgments, scores, deviations, ranks }) => ({
        system,
        judgments,
        rank: ranks[place],
        score: scores[place],
        deviation: deviations[place],
      }))
      .reverse();
  });
}
