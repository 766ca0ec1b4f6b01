/** What a screen reader is told: a new leader or a new line, and no more often than one can listen. */

import { say } from "../shared/elements.js";
import { counted } from "../shared/format.js";

const PAUSE = 20000;

export class Announcer {
  constructor(campaign) {
    this.campaign = campaign;
    this.place = document.getElementById("spoken");
    this.told = "";
    this.last = -Infinity;
  }

  hear(board) {
    const [leader] = board.order;
    if (leader === undefined) return;
    const news = `${leader} leads, ${counted(board.clusters, "cluster")}`;
    if (news === this.told || performance.now() - this.last < PAUSE) return;
    this.told = news;
    this.last = performance.now();
    say(this.place, `${this.campaign}: ${news}, ${counted(board.judgments, "judgment")}.`);
  }
}
