/** Announcements for screen readers: a new leader or a new line between clusters, with pauses to listen. */

/** @import { Board } from "../live/board.js" */

import { byId, setText } from "../shared/elements.js";
import { counted } from "../shared/format.js";

const PAUSE = 20000; // milliseconds

export class Announcer {
  /** @param {string} campaign */
  constructor(campaign) {
    this.campaign = campaign;
    this.place = byId("spoken");
    this.last = "";
    this.lastAt = -Infinity;
  }

  /** @param {Board} board */
  announce(board) {
    const [leader] = board.order;
    if (leader === undefined) return;
    const news = `${leader} leads, ${counted(board.clusters, "cluster")}`;
    if (news === this.last || performance.now() - this.lastAt < PAUSE) return;
    this.last = news;
    this.lastAt = performance.now();
    setText(this.place, `${this.campaign}: ${news}, ${counted(board.judgments, "judgment")}.`);
  }
}
