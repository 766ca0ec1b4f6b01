/** Lag and throughput of the workers. */

/** @import { Column, Lag, Status, TimedValue, WorkerReport } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { Chart } from "../charts/chart.js";
import { timelineChart } from "../charts/timeline.js";
import { fetchJson } from "../shared/api.js";
import { element } from "../shared/elements.js";
import { brief, count, counted } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const MOST_POINTS = 300;

/** @type {Column<Lag>[]} */
const COLUMNS = [
  { title: "Partition", value: ({ partition }) => partition },
  { title: "End", numeric: true, value: ({ end }) => end, text: ({ end }) => count(end) },
  { title: "Applied", numeric: true, value: ({ applied }) => applied, text: ({ applied }) => count(applied) },
  { title: "Lag", numeric: true, value: ({ lag }) => lag, text: ({ lag }) => count(lag) },
  {
    title: "Missing",
    numeric: true,
    about: "Records that were deleted before they were read",
    value: ({ missing }) => missing,
    text: ({ missing }) => count(missing),
  },
];

/** @type {Column<WorkerReport>[]} */
const WORKERS = [
  { title: "Worker", value: ({ worker }) => worker },
  { title: "State", value: workerState },
  {
    title: "Partitions",
    numeric: true,
    value: ({ open, opening, stopped }) => open.length + opening.length + stopped.length,
  },
  {
    title: "Last report",
    numeric: true,
    value: ({ reported_seconds }) => reported_seconds,
    text: ({ reported_seconds }) => `${Math.round(reported_seconds)} s ago`,
  },
  { title: "Version", minor: true, value: ({ version }) => version },
];

/** @param {WorkerReport} worker */
function workerState({ silent, opening, stopped }) {
  if (silent) return "silent";
  if (stopped.length) return `${stopped.length} stopped`;
  return opening.length ? "loading" : "working";
}

export class FlowPanel extends Panel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(campaign, { id: "flow", room: 320, title: "Lag and throughput", short: "Flow", every: 2000 });
    /** @type {TimedValue[]} */
    this.rates = [];
    /** @type {TimedValue[]} */
    this.lags = [];
    this.rate = new Chart();
    this.lag = new Chart();
    this.table = new Table({
      caption: "Partitions of the log, with their lag",
      columns: COLUMNS,
      sort: "Partition",
      descending: false,
    });
    this.workers = new Table({
      caption: "Workers",
      columns: WORKERS,
      sort: "Worker",
      descending: false,
      empty: "No worker is running. Start one: judgestream worker.",
    });
    this.addChart(this.rate, "throughput");
    this.addChart(this.lag, "lag");
    this.body.append(element("div", { class: "beside" }, this.rate.root, this.lag.root));
    this.addTable(this.table, { name: "partitions" });
    this.addTable(this.workers, { name: "workers" });
  }

  /** @returns {Promise<Status>} */
  async load() {
    /** @type {Status} */
    const status = await fetchJson("status");
    push(this.rates, status.rate);
    push(
      this.lags,
      status.partitions.reduce((sum, { lag }) => sum + lag, 0),
    );
    return status;
  }

  /** @param {Status} status */
  async show(status) {
    const waiting = status.waiting.length ? ` Not ready: ${status.waiting.join("; ")}.` : "";
    const lag = this.lags.at(-1)?.value ?? 0;
    this.note.textContent =
      `${brief(status.rate)} judgments per second in all campaigns. ${counted(lag, "record")} not applied yet. ` +
      `${counted(status.streams, "open page")}. The charts start when this section is first shown.${waiting}`;
    this.table.show(status.partitions);
    this.workers.show(status.workers);
    await this.rate.draw(
      `Judgments per second in all campaigns, now ${brief(status.rate)}`,
      timelineChart(this.rates, { label: "judgments/s", colour: "var(--blue)" }),
    );
    await this.lag.draw(
      `Records of the log that are not applied yet, now ${count(lag)}`,
      timelineChart(this.lags, { label: "records not applied", colour: "var(--orange)" }),
    );
    this.dirty = true; // refresh while visible, even if the campaign does not change
  }
}

/**
 * @param {TimedValue[]} points
 * @param {number} value
 */
function push(points, value) {
  points.push({ at: new Date(), value });
  if (points.length > MOST_POINTS) points.shift();
}
