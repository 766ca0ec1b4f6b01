/** What stands behind a leaderboard: the panels, and links to each. */

import { FlowPanel } from "../panels/flow.js";
import { JudgesPanel } from "../panels/judges.js";
import { HeadToHeadPanel, MeetingsPanel } from "../panels/pairs.js";
import { RatingsPanel } from "../panels/ratings.js";
import { RejectionsPanel } from "../panels/rejections.js";
import { RequestsPanel } from "../panels/requests.js";
import { SegmentsPanel } from "../panels/segments.js";
import { element } from "../shared/elements.js";

const SETTLED = 2500; // milliseconds, after which all that is in sight has been loaded

export class Behind {
  /** `campaign` gives the panels its name, board and choice, and asks the monitor for them. */
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
      { class: "behind" },
      sections,
      this.panels.map(({ root }) => root),
    );
  }

  /** New judgments have been rated. */
  changed() {
    for (const panel of this.judged) panel.changed();
  }

  /** The connection is back: whatever was missed is asked for. */
  catchUp() {
    this.ratings.forget();
    for (const panel of this.panels) panel.changed();
  }

  turnTo(id) {
    const found = this.panels.find((panel) => panel.id === id);
    if (!found) return;
    this.stayAt(found.root);
    found.root.querySelector("h2").focus({ preventScroll: true });
  }

  /** Scroll there, and again while the panels above still take their room, unless someone scrolls on. */
  stayAt(place) {
    const letGo = new AbortController();
    const sizes = new ResizeObserver(() => place.scrollIntoView());
    letGo.signal.addEventListener("abort", () => sizes.disconnect());
    for (const event of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      addEventListener(event, () => letGo.abort(), { signal: letGo.signal });
    }
    setTimeout(() => letGo.abort(), SETTLED);
    sizes.observe(this.root);
  }

  close() {
    for (const panel of this.panels) panel.close();
  }
}
