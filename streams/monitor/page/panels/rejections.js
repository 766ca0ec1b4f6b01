/** The records that were not applied, and why. */

import { barChart } from "../charts/bars.js";
import { Chart } from "../charts/chart.js";
import { counted, moment } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const COLUMNS = [
  { title: "Place", about: "Topic, partition and offset", value: ({ place }) => place },
  { title: "Reason", value: ({ reason }) => reason, text: ({ reason }) => worded(reason) },
  { title: "Field", minor: true, value: ({ field }) => field },
  { title: "Message", wide: true, value: ({ message }) => message },
  { title: "At", numeric: true, minor: true, value: ({ at }) => at, text: ({ at }) => moment(at) },
];

const worded = (reason) => reason.replaceAll("_", " ");

export class RejectionsPanel extends Panel {
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

  load() {
    return this.campaign.ask("/rejections?limit=50");
  }

  async show({ total, reasons, latest }) {
    const shares = Object.fromEntries(Object.entries(reasons).map(([reason, times]) => [worded(reason), times]));
    this.note.textContent = total ? `${counted(total, "record")} rejected; the latest below.` : "";
    this.table.show(latest);
    this.chart.root.hidden = total === 0;
    if (total)
      await this.chart.draw(
        `Rejections by reason: ${Object.entries(shares)
          .map((share) => share.join(" "))
          .join(", ")}`,
        barChart(shares),
      );
  }
}
