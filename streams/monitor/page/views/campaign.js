/** One campaign: its leaderboard, and the panels with the details. */

/** @import { ConnectionState, HistoryUpdate, LeaderboardPayload, Overview, PairsPayload, RowsUpdate } from "../types.ts" */

import { Board } from "../live/board.js";
import { showConnection } from "../live/connection.js";
import { oncePerFrame } from "../live/frames.js";
import { Stream } from "../live/stream.js";
import { campaignPath, fetchJson, messageOf } from "../shared/api.js";
import { element } from "../shared/elements.js";
import { capitalized } from "../shared/format.js";
import { Announcer } from "./announcer.js";
import { Choice } from "./choice.js";
import { Figures } from "./figures.js";
import { showFindings } from "./findings.js";
import { LeaderboardPanel } from "./leaderboard-panel.js";
import { Panels } from "./panels.js";
import { Trust } from "./trust.js";

const PAIRS_KEPT = 3000; // milliseconds
const PROPOSED = 5; // systems in the chart of the ratings, until the reader chooses

export class CampaignView {
  /**
   * @param {HTMLElement} main
   * @param {string} name
   */
  constructor(main, name) {
    this.name = name;
    this.board = new Board();
    this.choice = new Choice();
    this.lost = false;
    this.isScored = false; // whether judges score one system at a time
    /** @type {Stream | null} */
    this.stream = null;
    /** @type {Promise<PairsPayload> | null} */
    this.loadingPairs = null;
    this.announcer = new Announcer(name);
    this.figures = new Figures(name);
    this.trust = new Trust();
    this.leaderboard = new LeaderboardPanel(this);
    this.panels = new Panels(this);
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.drawSoon = oncePerFrame(() => this.draw());
    this.parts = element(
      "div",
      { class: "campaign" },
      element("div", { class: "ranking" }, this.figures.root, this.trust.root, this.leaderboard.root),
      this.panels.root,
    );
    main.append(this.problem, this.parts);
    this.follow();
  }

  follow() {
    try {
      this.stream = new Stream(campaignPath(this.name, "/events"), {
        events: {
          leaderboard: (/** @type {LeaderboardPayload} */ whole) => this.change(() => this.board.replace(whole)),
          rows: (/** @type {RowsUpdate} */ update) => this.change(() => this.board.update(update)),
          overview: (/** @type {Overview} */ overview) => this.showOverview(overview),
          history: (/** @type {HistoryUpdate} */ update) => this.panels.ratings.addSample(update),
          requests: () => this.panels.requests.changed(),
          rejections: () => this.panels.rejections.changed(),
          findings: showFindings,
        },
        check: campaignPath(this.name),
        onState: (state, error) => this.connectionChanged(state, error),
      });
    } catch (error) {
      this.connectionChanged("refused", error);
    }
  }

  /**
   * @param {ConnectionState} state
   * @param {unknown} error
   */
  connectionChanged(state, error) {
    showConnection(state);
    if (state === "refused") return this.fail(error);
    if (state === "live" && this.lost) this.panels.catchUp();
    this.lost = state !== "live";
  }

  /** @param {unknown} error */
  fail(error) {
    this.problem.hidden = false;
    this.problem.replaceChildren(`${capitalized(messageOf(error))}. `, element("a", { href: "#/" }, "All campaigns"));
    this.parts.hidden = true;
  }

  /** @param {Overview} overview */
  showOverview(overview) {
    this.figures.show(overview);
    if (this.isScored === (overview.kind === "scores")) return;
    this.isScored = overview.kind === "scores";
    for (const panel of this.panels.judged) panel.redraw(); // what they say about empty data depends on it
  }

  /** @param {() => void} apply */
  change(apply) {
    apply();
    this.drawSoon();
    this.panels.changed();
  }

  draw() {
    this.choice.propose(this.board.order.slice(0, PROPOSED));
    const shown = this.leaderboard.category.board ?? this.board;
    this.figures.showOutlook(shown.facts.outlook);
    this.trust.show(shown);
    this.leaderboard.show(this.board);
    this.announcer.announce(this.board);
  }

  // -- for the panels --------------------------------------------------------------------------------------

  /**
   * Return a resource of the campaign.
   * @param {string} rest
   */
  fetch(rest) {
    return fetchJson(campaignPath(this.name, rest));
  }

  /** Return the pairs. Two panels show them; they are fetched once for both. */
  pairs() {
    this.loadingPairs ??= this.fetch("/pairs").finally(() => setTimeout(() => (this.loadingPairs = null), PAIRS_KEPT));
    return this.loadingPairs;
  }

  // -- for the page ----------------------------------------------------------------------------------------

  /** @param {string} panel */
  scrollToPanel(panel) {
    this.panels.scrollTo(panel);
  }

  close() {
    this.stream?.close();
    this.leaderboard.category.close();
    this.panels.close();
  }
}
