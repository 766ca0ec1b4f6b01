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
    super(campaign, { id: "flow", room: 320, title: "Lag and throughput", short: "Flow" });
    this.rates = [];
    this.lags = [];
    this.rate = new Chart();
    this.lag = new Chart();
    this.table = new Table({ caption: "Partitions of the log, with their lag", columns: COLUMNS, sort: "Partition", descending: false });
    this.addChart(this.rate, "throughput");
    this.addChart(this.lag, "lag");
    this.body.append(element("div", { class: "beside" }, this.rate.root, this.lag.root));
    this.addTable(this.table, { name: "partitions" });
  }

  /** Take the campaign's rate, whether or not anyone looks, so that there is a line to see. */
  take(rate) {
    push(this.rates, rate);
    this.changed();
  }

  async load() {
    const status = await ask("status");
    push(this.lags, status.partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0));
    return status;
  }

  async show(status) {
    const waiting = status.waiting.length ? ` Not ready: ${status.waiting.join(", ")}.` : "";
    const lag = this.lags.at(-1)?.value ?? 0;
    this.note.textContent =
      `${brief(status.rate)} judgments a second over all campaigns, ${counted(lag, "record")} behind, ` +
      `${counted(status.streams, "open stream")}. Lines begin when this page was opened.${waiting}`;
    this.table.show(status.partitions);
    await this.draw();
  }

  async draw() {
    if (this.rates.length < 2 || this.lags.length < 2) return;
    await this.rate.draw("Judgments a second of this campaign since this page was opened", paceChart(this.rates, { label: "judgments/s", colour: "var(--blue)" }));
    await this.lag.draw("Records that wait, since this page was opened", paceChart(this.lags, { label: "records behind", colour: "var(--orange)" }));
  }
}

function push(points, value) {
  points.push({ at: new Date(), value });
  if (points.length > MOST_POINTS) points.shift();
}
