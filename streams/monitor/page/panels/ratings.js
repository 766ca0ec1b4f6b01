/** Ratings over time: all samples once, then one more with each event. */

import { Chart } from "../charts/chart.js";
import { ratingsChart } from "../charts/ratings.js";
import { button, element, named } from "../shared/elements.js";
import { count, counted } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const MOST_SAMPLES = 600; // held here; then every other one goes

export class RatingsPanel extends Panel {
  constructor(campaign) {
    super(campaign, {
      id: "ratings",
      room: 460,
      title: "Ratings over time",
      short: "Ratings",
      about:
        "Bands are two deviations wide on either side. Click a system on the leaderboard, or name it here, to show or hide it.",
      every: 1000,
    });
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
    this.addTable(this.table, { folded: "The same as a table" });
    campaign.choice.onChange(() => this.data && this.show(this.data));
  }

  add() {
    const system = this.field.value;
    if (!this.campaign.board.rows.has(system)) return;
    this.field.value = "";
    if (this.campaign.choice.colourOf(system) === null) this.campaign.choice.toggle(system);
  }

  async load() {
    if (!this.history) this.history = await this.campaign.ask("/history");
    return this.history;
  }

  /** Take one more sample, whose systems may stand in another order, and be more. */
  take({ systems, sample }) {
    const known = this.history;
    if (known && sample.sequence > (known.samples.at(-1)?.sequence ?? -1)) {
      known.systems.push(...systems.filter((system) => !known.systems.includes(system)));
      known.samples.push(aligned(sample, systems, known.systems));
    }
    if (known?.samples.length > MOST_SAMPLES) known.samples = known.samples.filter((_, i) => i % 2 === 0);
    this.changed();
  }

  /** After a lost connection, what was missed is asked for with the rest. */
  forget() {
    this.history = null;
    this.changed();
  }

  async show(history) {
    const { choice, board } = this.campaign;
    this.showChips(choice);
    if (this.options.children.length !== board.order.length) {
      this.options.replaceChildren(...board.order.map((system) => element("option", { value: system })));
    }
    if (history.samples.length < 2) return this.chart.empty("It takes two samples to draw a line.");
    const last = history.samples.at(-1);
    const label = `Ratings of ${choice.systems.join(", ") || "all systems"} over ${counted(last.judgments, "judgment")}; the numbers are in the table below`;
    await this.chart.draw(label, ratingsChart(history, choice));
    this.table.show(rowsOf(history, choice.systems));
  }

  showChips(choice) {
    const told = choice.systems.join("\n");
    if (told === this.told) return;
    this.told = told;
    this.chips.replaceChildren(
      ...choice.systems.map((system) => {
        const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.background = choice.colourOf(system);
        const remove = button("×", () => choice.toggle(system), { "aria-label": `Hide ${system}` });
        return element("li", {}, swatch, named(system), remove);
      }),
    );
  }
}

const COLUMNS = [
  { title: "System", value: ({ system }) => system, cell: ({ system }) => named(system) },
  { title: "Judgments", numeric: true, value: ({ judgments }) => judgments, text: ({ judgments }) => count(judgments) },
  { title: "Rank", numeric: true, value: ({ rank }) => rank },
  { title: "Score", numeric: true, value: ({ score }) => score },
  { title: "Deviation", numeric: true, value: ({ deviation }) => deviation },
];

function aligned(sample, systems, wanted) {
  const places = wanted.map((system) => systems.indexOf(system));
  const put = (values) => places.map((place) => values[place] ?? null);
  return { ...sample, scores: put(sample.scores), deviations: put(sample.deviations), ranks: put(sample.ranks) };
}

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
