/** The segments, by expected information about the next line between clusters. */

/** @import { Column, Segment, SegmentsPayload } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { nameElement } from "../shared/elements.js";
import { count, decimal } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

/** @type {Column<Segment>[]} */
const COLUMNS = [
  { title: "Segment", value: ({ segment }) => segment, cell: ({ segment }) => nameElement(segment) },
  {
    title: "Information",
    optional: true,
    numeric: true,
    about: "Expected information of a judgment about the next line between clusters, if the model estimates it",
    value: ({ information }) => information,
    text: ({ information }) => decimal(information, 4),
  },
  { title: "Judgments", numeric: true, value: ({ judgments }) => judgments, text: ({ judgments }) => count(judgments) },
];

export class SegmentsPanel extends Panel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(campaign, { id: "segments", room: 380, title: "Segments" });
    this.table = new Table({ caption: "Segments", columns: COLUMNS, sort: "Information", folded: 10 });
    this.addTable(this.table);
  }

  /** @returns {Promise<SegmentsPayload>} */
  load() {
    return this.campaign.fetch("/segments?order=information&limit=100");
  }

  /** @param {SegmentsPayload} payload */
  async show({ segments, total, others }) {
    const informed = segments.some(({ information }) => information !== null);
    const which =
      (segments.length < total
        ? `The first ${count(segments.length)} of ${count(total)} segments`
        : `${count(total)} segments`) +
      (others ? `, without ${count(others)} judgments on other segments that are only counted` : "");
    this.note.textContent = !total
      ? ""
      : informed
      ? `${which}, by expected information about the next line between clusters.`
      : `${which}, by number of judgments. The model of this campaign does not estimate the information of a segment.`;
    if (!informed && this.table.sort === "Information") this.table.sort = "Judgments";
    this.table.show(segments);
  }
}
