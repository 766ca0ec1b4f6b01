/** The match requests that wait for an answer. */

import { element, named } from "../shared/elements.js";
import { counted, decimal, moment } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const COLUMNS = [
  {
    title: "Systems",
    value: ({ systems }) => systems.join(" / "),
    cell: ({ systems }) =>
      element(
        "span",
        {},
        systems.flatMap((system, i) => (i ? [" or ", named(system)] : [named(system)])),
      ),
  },
  { title: "Segment", value: ({ segment }) => segment, cell: ({ segment }) => named(segment ?? "any") },
  {
    title: "Bits",
    numeric: true,
    about: "Expected information about the two ratings",
    value: ({ information }) => information,
    text: ({ information }) => decimal(information, 3),
  },
  { title: "Why", minor: true, value: ({ why }) => why },
  {
    title: "Expires",
    numeric: true,
    minor: true,
    value: ({ expires_at }) => expires_at,
    text: ({ expires_at }) => moment(expires_at),
  },
  {
    title: "Leased until",
    numeric: true,
    value: ({ leased_until }) => leased_until,
    text: ({ leased_until }) => (leased_until ? moment(leased_until) : "free"),
  },
];

export class RequestsPanel extends Panel {
  constructor(campaign) {
    super(campaign, { id: "requests", room: 380, title: "Match requests", short: "Requests" });
    this.table = new Table({
      caption: "Match requests outstanding",
      columns: COLUMNS,
      sort: "Bits",
      folded: 10,
      cards: true,
      empty: "No request is outstanding.",
    });
    this.addTable(this.table);
  }

  async load() {
    return (await this.campaign.ask("/requests")).requests;
  }

  show(requests) {
    const leased = requests.filter(({ leased_until }) => leased_until).length;
    this.note.textContent = `${counted(requests.length, "request")} outstanding, ${leased} leased to a judge.`;
    this.table.show(requests);
  }
}
