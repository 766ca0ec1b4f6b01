/** The leaderboard of a campaign, kept up to date by updates. */

/** @import { LeaderboardPayload, Row, RowsUpdate } from "../types.ts" */

export class Board {
  constructor() {
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {string[]} */
    this.order = [];
    this.sequence = -1;
    this.judgments = 0;
  }

  /**
   * Replace the whole leaderboard.
   * @param {LeaderboardPayload} leaderboard
   */
  replace({ sequence, judgments, rows }) {
    this.rows = new Map(rows.map((row) => [row.system, row]));
    this.order = rows.map((row) => row.system);
    this.sequence = sequence;
    this.judgments = judgments;
  }

  /**
   * Apply an update. Without an order in it, the order stays.
   * @param {RowsUpdate} update
   */
  update({ sequence, judgments, order, rows, gone }) {
    for (const system of gone) this.rows.delete(system);
    for (const row of rows) this.rows.set(row.system, row);
    if (order) this.order = order;
    this.sequence = sequence;
    this.judgments = judgments;
  }

  /** Return the rows, the best first. */
  ranked() {
    return this.order.map((system) => this.rows.get(system)).filter((row) => row !== undefined);
  }

  get clusters() {
    return this.ranked().reduce((most, row) => Math.max(most, row.cluster), 0);
  }
}
