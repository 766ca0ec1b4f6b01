/** One campaign: its leaderboard as it moves, and beside it what stands behind. */

import { Board } from "../live/board.js";
import { showConnection } from "../live/connection.js";
import { onceAFrame } from "../live/frames.js";
import { Stream } from "../live/stream.js";
import { ask, pathOf } from "../shared/api.js";
import { element } from "../shared/elements.js";
import { Announcer } from "./announcer.js";
import { Behind } from "./behind.js";
import { Choice } from "./choice.js";
import { Figures } from "./figures.js";
import { Standing } from "./standing.js";

const PAIRS_HOLD = 3000; // milliseconds
const PROPOSED = 5; // systems in the chart of the ratings, until someone chooses

export class CampaignView {
  constructor(main, name) {
    this.name = name;
    this.board = new Board();
    this.choice = new Choice();
    this.announcer = new Announcer(name);
    this.figures = new Figures(name);
    this.standing = new Standing(this);
    this.behind = new Behind(this);
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.drawSoon = onceAFrame(() => this.draw());
    this.parts = element(
      "div",
      { class: "campaign" },
      element("div", { class: "standing" }, this.figures.root, this.standing.root),
      this.behind.root,
    );
    main.append(this.problem, this.parts);
    this.follow();
  }

  follow() {
    try {
      this.stream = new Stream(pathOf(this.name, "/events"), {
        events: {
          leaderboard: (whole) => this.change(() => this.board.replace(whole)),
          rows: (delta) => this.change(() => this.board.change(delta)),
          overview: (overview) => this.figures.show(overview),
          history: (news) => this.behind.ratings.take(news),
          requests: () => this.behind.requests.changed(),
          rejections: () => this.behind.rejections.changed(),
        },
        check: pathOf(this.name),
        onState: (state, error) => this.connected(state, error),
      });
    } catch (error) {
      this.connected("refused", error);
    }
  }

  connected(state, error) {
    showConnection(state);
    if (state === "refused") return this.fail(error);
    if (state === "live" && this.lost) this.behind.catchUp();
    this.lost = state !== "live";
  }

  fail(error) {
    this.problem.hidden = false;
    this.problem.replaceChildren(`${error.message}. `, element("a", { href: "#/" }, "All campaigns"));
    this.parts.hidden = true;
  }

  change(apply) {
    apply();
    this.drawSoon();
    this.behind.changed();
  }

  draw() {
    this.choice.propose(this.board.order.slice(0, PROPOSED));
    this.standing.show(this.board);
    this.announcer.hear(this.board);
  }

  // -- for the panels --------------------------------------------------------------------------------------

  ask(rest) {
    return ask(pathOf(this.name, rest));
  }

  /** The pairs, which two panels show, asked for once for both. */
  pairs() {
    this.asked ??= this.ask("/pairs").finally(() => setTimeout(() => (this.asked = null), PAIRS_HOLD));
    return this.asked;
  }

  // -- for the page ----------------------------------------------------------------------------------------

  turnTo(panel) {
    this.behind.turnTo(panel);
  }

  close() {
    this.stream?.close();
    this.behind.close();
  }
}
