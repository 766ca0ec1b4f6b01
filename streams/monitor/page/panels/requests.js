/** The outstanding match requests. */

/** @import { Column, MatchRequest } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { element, nameElement } from "../shared/elements.js";
import { counted, decimal, moment } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

/** @type {Column<MatchRequest>[]} */
const COLUMNS = [
  {
    title: "Systems",
    value: ({ systems }) => systems.join(" / "),
    cell: ({ systems }) =>
      element(
        "span",
        {},
        systems.flatMap((system, i) => (i ? [" or ", nameElement(system)] : [nameElement(system)])),
      ),
  },
  { title: "Segment", value: ({ segment }) => segment, cell: ({ segment }) => nameElement(segment ?? "any") },
  {
    title: "Bits",
    numeric: true,
    about: "Expected information about the ratings, in bits",
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
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(campaign, { id: "requests", room: 380, title: "Match requests", short: "Requests" });
    this.table = new Table({
      caption: "Outstanding match requests",
      columns: COLUMNS,
      sort: "Bits",
      folded: 10,
      cards: true,
      empty: "No request is outstanding.",
    });
    this.addTable(this.table);
  }

  /** @returns {Promise<MatchRequest[]>} */
  async load() {
    return (await this.campaign.fetch("/requests")).requests;
  }

  /** @param {MatchRequest[]} requests */
  async show(requests) {
    const leased = requests.filter(({ leased_until }) => leased_until).length;
    this.note.textContent = `${counted(requests.length, "request")} outstanding, ${leased} leased to a judge.`;
    this.table.show(requests);
  }
}
