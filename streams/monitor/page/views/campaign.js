/** One campaign: its leaderboard as it moves, and beside it what stands behind. */

import { Board } from "../live/board.js";
import { showConnection } from "../live/connection.js";
import { onceAFrame } from "../live/frames.js";
import { Stream } from "../live/stream.js";
import { ask, pathOf } from "../shared/api.js";
import { element, isBeingSelected, say } from "../shared/elements.js";
import { Chart } from "../charts/chart.js";
import { standingChart } from "../charts/standing.js";
import { saveCsv, saveSvg } from "../shared/save.js";
import { Announcer } from "./announcer.js";
import { Behind } from "./behind.js";
import { Choice } from "./choice.js";
import { Figures } from "./figures.js";
import { Leaderboard } from "./leaderboard.js";

const PAIRS_HOLD = 4000; // milliseconds
const PROPOSED = 5; // systems in the chart of the ratings, until someone chooses

export class CampaignView {
  constructor(main, campaign) {
    this.name = campaign;
    this.board = new Board();
    this.choice = new Choice();
    this.figures = new Figures(campaign);
    this.leaderboard = new Leaderboard(this.choice);
    this.announcer = new Announcer(campaign);
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.drawSoon = onceAFrame(() => this.draw());
    this.behind = new Behind(this);
    const standing = element("div", { class: "standing" }, this.figures.root, this.problem, this.boardSection());
    main.append(element("div", { class: "campaign" }, standing, this.behind.root));
    this.begin();
  }

  boardSection() {
    const held = element("button", { type: "button", "aria-pressed": "false", title: "Keep the leaderboard as it is for a while", click: () => this.hold(held) }, "Hold");
    const filter = element("input", { type: "search", "aria-label": "Filter the systems", placeholder: "Filter systems", input: () => this.leaderboard.sift(filter.value) });
    const csv = element("button", { type: "button", "aria-label": "Download the leaderboard as CSV", click: () => saveCsv(`${this.name}-leaderboard`, this.leaderboard.csv()) }, "CSV");
    const svg = element("button", { type: "button", "aria-label": "Download the leaderboard as SVG", click: () => this.saveFigure() }, "SVG");
    return element(
      "section",
      { class: "panel", "aria-labelledby": "leaderboard-title", id: "leaderboard" },
      element("div", { class: "panel-head" }, element("h2", { id: "leaderboard-title" }, "Leaderboard"), element("div", { class: "tools" }, filter, held, svg, csv)),
      this.leaderboard.root,
    );
  }

  ask(rest) {
    return ask(pathOf(this.name, rest));
  }

  /** The pairs, which two panels show, asked for once for both. */
  pairs() {
    if (!this.asked || performance.now() - this.asked.at > PAIRS_HOLD) {
      this.asked = { at: performance.now(), answer: this.ask("/pairs") };
    }
    return this.asked.answer;
  }

  async begin() {
    let path;
    try {
      path = pathOf(this.name);
      this.figures.show(await ask(path));
    } catch (error) {
      this.fail(error);
      if (error.status === 404 || error.status === 401) return;
    }
    if (this.closed) return;
    this.stream = new Stream(`${path}/events`, {
      events: {
        leaderboard: (whole) => this.change(() => this.board.replace(whole)),
        rows: (delta) => this.change(() => this.board.change(delta)),
        overview: (overview) => this.sumUp(overview),
        history: (sample) => this.behind.ratings.take(sample),
        requests: () => this.behind.requests.changed(),
        rejections: () => this.behind.rejections.changed(),
      },
      onState: (state) => this.connected(state),
    });
  }

  sumUp(overview) {
    this.figures.show(overview);
  }

  connected(state) {
    showConnection(state);
    if (state === "live" && this.lost) for (const panel of this.behind.panels) panel.changed();
    if (state === "live" && this.lost) this.behind.ratings.forget();
    this.lost = state !== "live";
  }

  fail(error) {
    this.problem.hidden = false;
    say(this.problem, error.message);
    showConnection(error.status === 404 ? "not found" : "reconnecting");
  }

  change(apply) {
    apply();
    this.drawSoon();
    this.behind.changed();
  }

  hold(button) {
    this.held = !this.held;
    button.setAttribute("aria-pressed", String(this.held));
    this.drawSoon();
  }

  draw() {
    if (this.held || isBeingSelected(this.leaderboard.root)) return;
    this.problem.hidden = true;
    this.choice.propose(this.board.order.slice(0, PROPOSED));
    this.leaderboard.show(this.board);
    this.announcer.hear(this.board);
  }

  turnTo(panel) {
    this.behind.turnTo(panel);
  }

  async saveFigure() {
    const chart = new Chart();
    chart.root.hidden = true;
    this.leaderboard.root.after(chart.root);
    await chart.draw(`Leaderboard of ${this.name}`, standingChart(this.board.ranked()));
    saveSvg(`${this.name}-leaderboard`, chart.svg());
    chart.root.remove();
  }

  close() {
    this.closed = true;
    this.stream?.close();
    this.behind.close();
  }
}
