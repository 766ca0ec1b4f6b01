/** The rejected records, with the reasons. */

/** @import { Column, Rejection, RejectionsPayload } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { barChart } from "../charts/bars.js";
import { Chart } from "../charts/chart.js";
import { element } from "../shared/elements.js";
import { counted, moment } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

/** @type {Column<Rejection>[]} */
const COLUMNS = [
  {
    title: "Place",
    about: "Topic, partition and offset",
    value: ({ place }) => place,
    cell: ({ place }) => breakAtSlashes(place),
  },
  { title: "Judgment", about: "Id of the judgment or command", minor: true, value: ({ judgment }) => judgment },
  { title: "Reason", value: ({ reason }) => reason, text: ({ reason }) => inWords(reason) },
  { title: "Field", minor: true, value: ({ field }) => field },
  { title: "Message", wide: true, value: ({ message }) => message },
  { title: "At", numeric: true, minor: true, value: ({ at }) => at, text: ({ at }) => moment(at) },
];

/**
 * Return a place that is broken into lines at its slashes, not inside a number.
 * @param {string} place
 */
const breakAtSlashes = (place) =>
  element(
    "span",
    {},
    place.split("/").map((part, i) => (i ? ["/", element("wbr"), part] : part)),
  );

/** @param {string} reason */
const inWords = (reason) => reason.replaceAll("_", " ");

export class RejectionsPanel extends Panel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(campaign, { id: "rejections", room: 60, title: "Rejections" });
    this.chart = new Chart();
    this.addChart(this.chart);
    this.table = new Table({
      caption: "The latest rejections",
      columns: COLUMNS,
      sort: "At",
      folded: 10,
      cards: true,
      empty: "Nothing was rejected.",
    });
    this.addTable(this.table);
  }

  /** @returns {Promise<RejectionsPayload>} */
  load() {
    return this.campaign.fetch("/rejections?limit=50");
  }

  /** @param {RejectionsPayload} payload */
  async show({ total, reasons, latest }) {
    const counts = Object.fromEntries(Object.entries(reasons).map(([reason, times]) => [inWords(reason), times]));
    this.note.textContent = total ? `${counted(total, "record")} rejected. The table shows the latest.` : "";
    this.table.show(latest);
    this.chart.root.hidden = total === 0;
    if (total)
      await this.chart.draw(
        `Rejections by reason: ${Object.entries(counts)
          .map(([reason, times]) => `${reason} ${times}`)
          .join(", ")}`,
        barChart(counts),
      );
  }
}
