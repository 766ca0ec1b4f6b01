/** Lag and throughput: how fast judgments are rated, and how many wait. */

import { Chart } from "../charts/chart.js";
import { paceChart } from "../charts/pace.js";
import { ask } from "../shared/api.js";
import { element } from "../shared/elements.js";
import { brief, count, counted } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const MOST_POINTS = 300;

const COLUMNS = [
  { title: "Partition", value: ({ partition }) => partition },
  { title: "End", numeric: true, value: ({ end }) => end, text: ({ end }) => count(end) },
  { title: "Applied", numeric: true, value: ({ applied }) => applied, text: ({ applied }) => count(applied) },
  { title: "Lag", numeric: true, value: ({ lag }) => lag, text: ({ lag }) => count(lag) },
];

export class FlowPanel extends Panel {
  constructor(campaign) {
    super(campaign, { id: "flow", room: 320, title: "Lag and throughput", short: "Flow", every: 2000 });
    this.rates = [];
    this.lags = [];
    this.rate = new Chart();
    this.lag = new Chart();
    this.table = new Table({
      caption: "Partitions of the log, with their lag",
      columns: COLUMNS,
      sort: "Partition",
      descending: false,
    });
    this.addChart(this.rate, "throughput");
    this.addChart(this.lag, "lag");
    this.body.append(element("div", { class: "beside" }, this.rate.root, this.lag.root));
    this.addTable(this.table, { name: "partitions" });
  }

  async load() {
    const status = await ask("status");
    push(this.rates, status.rate);
    push(
      this.lags,
      status.partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0),
    );
    return status;
  }

  async show(status) {
    const waiting = status.waiting.length ? ` Not ready: ${status.waiting.join(", ")}.` : "";
    const lag = this.lags.at(-1)?.value ?? 0;
    this.note.textContent =
      `${brief(status.rate)} judgments a second over all campaigns, ${counted(lag, "record")} behind, ` +
      `${counted(status.streams, "open page")}. Lines begin when this was first looked at.${waiting}`;
    this.table.show(status.partitions);
    await this.rate.draw(
      `Judgments a second over all campaigns, now ${brief(status.rate)}`,
      paceChart(this.rates, { label: "judgments/s", colour: "var(--blue)" }),
    );
    await this.lag.draw(
      `Records of the log that wait to be rated, now ${count(lag)}`,
      paceChart(this.lags, { label: "records behind", colour: "var(--orange)" }),
    );
    this.dirty = true; // it goes on while someone looks, whether or not the campaign changes
  }
}

function push(points, value) {
  points.push({ at: new Date(), value });
  if (points.length > MOST_POINTS) points.shift();
}
