/** All campaigns at a glance: how far each is, how fast, and who leads. */

import { showConnection } from "../live/connection.js";
import { onceAFrame } from "../live/frames.js";
import { Stream } from "../live/stream.js";
import { ask } from "../shared/api.js";
import { button, element, isBeingSelected, named, say } from "../shared/elements.js";
import { brief, count, counted, moment, percent } from "../shared/format.js";
import { saveCsv } from "../shared/save.js";
import { Table } from "../shared/table.js";
import { meter } from "./meter.js";

const STATES = ["any state", "open", "paused", "closed"];

const COLUMNS = [
  {
    title: "Campaign",
    value: (row) => row.campaign,
    cell: (row) => element("a", { href: `#/${encodeURIComponent(row.campaign)}` }, named(row.campaign)),
  },
  {
    title: "State",
    value: (row) => row.state,
    cell: (row) => element("span", { class: `state ${row.state}` }, row.state),
  },
  { title: "Leader", value: (row) => row.leader, cell: (row) => (row.leader === null ? "–" : named(row.leader)) },
  { title: "Judgments", numeric: true, value: (row) => row.judgments, text: (row) => count(row.judgments) },
  { title: "Budget", numeric: true, minor: true, value: (row) => row.budget, text: (row) => count(row.budget) },
  { title: "Progress", numeric: true, value: progress, cell: (row) => withMeter(progress(row)) },
  {
    title: "Rate",
    numeric: true,
    about: "Judgments a second over the last minute",
    value: (row) => row.rate,
    text: (row) => `${brief(row.rate)}/s`,
  },
  { title: "Judges", numeric: true, minor: true, value: (row) => row.judges, text: (row) => count(row.judges) },
  { title: "Systems", numeric: true, minor: true, value: (row) => row.systems, text: (row) => count(row.systems) },
  { title: "Clusters", numeric: true, minor: true, value: (row) => row.clusters, text: (row) => count(row.clusters) },
  {
    title: "Separation",
    numeric: true,
    about: "Of the lines that could part the systems, how many do",
    value: (row) => row.separation,
    cell: (row) => withMeter(row.separation),
  },
  { title: "Newest", numeric: true, minor: true, value: (row) => row.newest, text: (row) => moment(row.newest) },
];

function progress(row) {
  return row.budget ? row.judgments / row.budget : null;
}

function withMeter(share) {
  return share === null ? "–" : element("span", { class: "metered" }, meter(share), percent(share));
}

export class CampaignsView {
  constructor(main) {
    this.campaigns = new Map();
    this.table = new Table({
      caption: "Campaigns",
      columns: COLUMNS,
      sort: "Newest",
      folded: 100,
      cards: true,
      empty: "No campaign fits.",
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
    this.drawSoon = onceAFrame(() => this.draw());
    this.load();
    this.stream = new Stream("events", {
      events: { overview: (overview) => this.take(overview) },
      check: "campaigns",
      onState: (state) => this.connected(state),
    });
  }

  async load() {
    try {
      const { campaigns } = await ask("campaigns");
      this.campaigns = new Map(campaigns.map((overview) => [overview.campaign, overview]));
      this.draw();
    } catch (error) {
      say(this.about, error.message);
    }
  }

  take(overview) {
    this.campaigns.set(overview.campaign, overview);
    this.drawSoon();
  }

  connected(state) {
    showConnection(state);
    if (state === "live" && this.lost) this.load();
    this.lost = state !== "live";
  }

  draw() {
    if (isBeingSelected(this.table.root)) return;
    const text = this.name.value.toLowerCase();
    const state = this.state.value;
    const all = [...this.campaigns.values()];
    const fit = all.filter(
      (row) =>
        `${row.campaign}\n${row.leader ?? ""}`.toLowerCase().includes(text) &&
        (state === STATES[0] || row.state === state),
    );
    const judgments = all.reduce((sum, row) => sum + row.judgments, 0);
    const rate = all.reduce((sum, row) => sum + row.rate, 0);
    say(this.about, `${counted(all.length, "campaign")}, ${counted(judgments, "judgment")}, ${brief(rate)} a second`);
    this.table.show(fit);
  }

  close() {
    this.stream.close();
  }
}
