/** The panels beside the leaderboard, and links to them. */

/** @import { CampaignView } from "./campaign.js" */

import { FlowPanel } from "../panels/flow.js";
import { JudgesPanel } from "../panels/judges.js";
import { HeadToHeadPanel, MeetingsPanel } from "../panels/pairs.js";
import { RatingsPanel } from "../panels/ratings.js";
import { RejectionsPanel } from "../panels/rejections.js";
import { RequestsPanel } from "../panels/requests.js";
import { SegmentsPanel } from "../panels/segments.js";
import { element } from "../shared/elements.js";

const SETTLED = 2500; // milliseconds after which all visible panels have been loaded

export class Panels {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    this.ratings = new RatingsPanel(campaign);
    this.requests = new RequestsPanel(campaign);
    this.rejections = new RejectionsPanel(campaign);
    this.flow = new FlowPanel(campaign);
    this.judged = [
      new HeadToHeadPanel(campaign),
      new MeetingsPanel(campaign),
      new JudgesPanel(campaign),
      new SegmentsPanel(campaign),
    ];
    this.panels = [this.ratings, ...this.judged, this.requests, this.rejections, this.flow];
    const links = this.panels.map(({ id, short }) =>
      element("li", {}, element("a", { href: `#/${campaign.name}/${id}` }, short)),
    );
    const sections = element("nav", { class: "sections", "aria-label": "Sections" }, element("ul", {}, links));
    this.root = element(
      "div",
      { class: "panels" },
      sections,
      this.panels.map(({ root }) => root),
    );
  }

  /** New judgments have been applied. */
  changed() {
    for (const panel of this.judged) panel.changed();
  }

  /** Load everything again after a lost connection. */
  catchUp() {
    this.ratings.reload();
    for (const panel of this.panels) panel.changed();
  }

  /** @param {string} id */
  scrollTo(id) {
    const panel = this.panels.find((each) => each.id === id);
    if (!panel) return;
    this.keepInView(panel.root);
    panel.root.querySelector("h2")?.focus({ preventScroll: true });
  }

  /**
   * Scroll to a panel, and again while the panels above it grow, unless the reader scrolls.
   * @param {HTMLElement} place
   */
  keepInView(place) {
    const stop = new AbortController();
    const sizes = new ResizeObserver(() => place.scrollIntoView());
    stop.signal.addEventListener("abort", () => sizes.disconnect());
    for (const event of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      addEventListener(event, () => stop.abort(), { signal: stop.signal });
    }
    setTimeout(() => stop.abort(), SETTLED);
    sizes.observe(this.root);
  }

  close() {
    for (const panel of this.panels) panel.close();
  }
}
