/** The segments, by what a verdict on each would tell about the next line. */

import { named } from "../shared/elements.js";
import { count, decimal } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const COLUMNS = [
  { title: "Segment", value: ({ segment }) => segment, cell: ({ segment }) => named(segment) },
  {
    title: "Information",
    optional: true,
    numeric: true,
    about: "What a verdict on it tells about the next line, where the model knows",
    value: ({ information }) => information,
    text: ({ information }) => decimal(information, 4),
  },
  { title: "Judgments", numeric: true, value: ({ judgments }) => judgments, text: ({ judgments }) => count(judgments) },
];

export class SegmentsPanel extends Panel {
  constructor(campaign) {
    super(campaign, { id: "segments", room: 380, title: "Segments" });
    this.table = new Table({ caption: "Segments", columns: COLUMNS, sort: "Information", folded: 10 });
    this.addTable(this.table);
  }

  load() {
    return this.campaign.ask("/segments?order=information&limit=100");
  }

  show({ segments, total }) {
    const informed = segments.some(({ information }) => information !== null);
    const which =
      segments.length < total
        ? `The first ${count(segments.length)} of ${count(total)} segments`
        : `${count(total)} segments`;
    this.note.textContent = informed
      ? `${which}, by what a verdict on each tells about the next line.`
      : `${which}. The model of this campaign knows no information of a segment; here is how often each was judged.`;
    if (!informed && this.table.sort === "Information") this.table.sort = "Judgments";
    this.table.show(segments);
  }
}
