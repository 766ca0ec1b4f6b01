/** The list of all campaigns: progress, rate and leader. */

/** @import { CampaignsPage, Column, ConnectionState, Overview } from "../types.ts" */

import { showConnection } from "../live/connection.js";
import { oncePerFrame } from "../live/frames.js";
import { Stream } from "../live/stream.js";
import { fetchJson, messageOf } from "../shared/api.js";
import { button, element, isBeingSelected, nameElement, setText } from "../shared/elements.js";
import { NOTHING, brief, count, counted, moment, percent } from "../shared/format.js";
import { saveCsv } from "../shared/save.js";
import { Table } from "../shared/table.js";
import { showFindings } from "./findings.js";
import { Meter } from "./meter.js";
import { stateOf, troubleOf } from "./trouble.js";

const PAGE = 500; // campaigns per request
const MOST_CAMPAIGNS = 10000; // that are kept; the newest of them
const STATES = ["any state", "open", "paused", "closed", "archived", "quarantined", "corrupt", "rated again", "unreadable"];

/** @type {Column<Overview>[]} */
const COLUMNS = [
  {
    title: "Campaign",
    value: (row) => row.campaign,
    cell: (row) => element("a", { href: `#/${encodeURIComponent(row.campaign)}` }, nameElement(row.campaign)),
  },
  {
    title: "State",
    value: stateOf,
    cell: (row) => element("span", { class: `state ${stateOf(row)}`, title: troubleOf(row) }, stateOf(row)),
  },
  { title: "Leader", value: (row) => row.leader, cell: (row) => (row.leader === null ? NOTHING : nameElement(row.leader)) },
  { title: "Judgments", numeric: true, value: (row) => row.judgments, text: (row) => count(row.judgments) },
  { title: "Budget", numeric: true, minor: true, value: (row) => row.budget, text: (row) => count(row.budget) },
  { title: "Progress", numeric: true, value: progress, cell: (row) => withMeter(progress(row)) },
  {
    title: "Rate",
    numeric: true,
    about: "Judgments per second over the last minute",
    value: (row) => row.rate,
    text: (row) => `${brief(row.rate)}/s`,
  },
  { title: "Judges", numeric: true, minor: true, value: (row) => row.judges, text: (row) => count(row.judges) },
  { title: "Systems", numeric: true, minor: true, value: (row) => row.systems, text: (row) => count(row.systems) },
  { title: "Clusters", numeric: true, minor: true, value: (row) => row.clusters, text: (row) => count(row.clusters) },
  {
    title: "Separation",
    numeric: true,
    about: "Share of neighbouring systems with a line between them",
    value: separation,
    cell: (row) => withMeter(separation(row)),
  },
  { title: "Newest", numeric: true, minor: true, value: (row) => row.newest, text: (row) => moment(row.newest) },
];

/** @param {Overview} row */
function progress(row) {
  return row.budget ? row.judgments / row.budget : null;
}

/** @param {Overview} row */
function separation(row) {
  return row.systems > 1 ? row.separation : null;
}

/** @param {number | null} share */
function withMeter(share) {
  return share === null ? NOTHING : element("span", { class: "metered" }, new Meter().show(share), percent(share));
}

export class CampaignsView {
  /** @param {HTMLElement} main */
  constructor(main) {
    /** @type {Map<string, Overview>} */
    this.campaigns = new Map();
    this.lost = false;
    this.closed = false;
    this.total = 0;
    this.table = new Table({
      caption: "Campaigns",
      columns: COLUMNS,
      sort: "Newest",
      folded: 100,
      cards: true,
      empty: "No campaign matches the filter.",
    });
    this.about = element("p", { class: "about" });
    this.name = element("input", {
      type: "search",
      "aria-label": "Filter by name or leader",
      placeholder: "Filter by name or leader",
      input: () => this.draw(),
    });
    this.state = element(
      "select",
      { "aria-label": "Filter by state", change: () => this.draw() },
      STATES.map((state) => element("option", {}, state)),
    );
    const csv = button("CSV", () => saveCsv("campaigns", this.table.csv()), {
      "aria-label": "Download the campaigns as CSV",
    });
    main.append(
      element("div", { class: "heading" }, element("h1", {}, "Campaigns"), this.about),
      element("div", { class: "tools" }, this.name, this.state, csv),
      this.table.root,
    );
    this.table.root.classList.add("campaigns");
    this.drawSoon = oncePerFrame(() => this.draw());
    this.load();
    this.stream = new Stream("events", {
      events: {
        overview: (/** @type {Overview} */ overview) => this.update(overview),
        gone: (/** @type {{ campaign: string }} */ { campaign }) => this.remove(campaign),
        findings: showFindings,
      },
      check: "campaigns?limit=1",
      onState: (state) => this.connectionChanged(state),
    });
  }

  /**
   * Add the campaigns that match a query, and return their number.
   * @param {string} query
   * @param {Map<string, Overview>} found
   */
  async loadPages(query, found) {
    /** @type {string | null} */
    let next = null;
    let total = 0;
    do {
      /** @type {CampaignsPage} */
      const page = await fetchJson(`campaigns?limit=${PAGE}${query}${next ? `&after=${encodeURIComponent(next)}` : ""}`);
      for (const overview of page.campaigns) found.set(overview.campaign, overview);
      total = page.total;
      next = page.next;
      this.draw();
    } while (next && found.size < MOST_CAMPAIGNS && !this.closed);
    return total;
  }

  async load() {
    try {
      /** @type {Map<string, Overview>} */
      const found = new Map();
      if (this.campaigns.size === 0) this.campaigns = found; // the first pages are shown while others come
      this.total = await this.loadPages("", found);
      await this.loadPages("&state=archived", found);
      this.campaigns = found;
      this.draw();
    } catch (error) {
      setText(this.about, messageOf(error));
    }
  }

  /** @param {Overview} overview */
  update(overview) {
    this.campaigns.set(overview.campaign, overview);
    this.drawSoon();
  }

  /** @param {string} campaign */
  remove(campaign) {
    this.campaigns.delete(campaign);
    this.drawSoon();
  }

  /** @param {ConnectionState} state */
  connectionChanged(state) {
    showConnection(state);
    if (state === "live" && this.lost) this.load();
    this.lost = state !== "live";
  }

  draw() {
    if (isBeingSelected(this.table.root)) return;
    const text = this.name.value.toLowerCase();
    const state = this.state.value;
    // Archived campaigns are shown only if they are asked for.
    const all = [...this.campaigns.values()].filter((row) => row.state !== "archived" || state === "archived");
    const matching = all.filter(
      (row) =>
        `${row.campaign}\n${row.leader ?? ""}`.toLowerCase().includes(text) &&
        (state === STATES[0] || stateOf(row) === state),
    );
    const judgments = all.reduce((sum, row) => sum + row.judgments, 0);
    const rate = all.reduce((sum, row) => sum + row.rate, 0);
    const shown = this.total > MOST_CAMPAIGNS ? `the newest ${count(all.length)} of ` : "";
    setText(this.about, `${shown}${counted(Math.max(all.length, this.total), "campaign")}, ${counted(judgments, "judgment")}, ${brief(rate)} per second`);
    this.table.show(matching);
  }

  close() {
    this.closed = true;
    this.stream.close();
  }
}
