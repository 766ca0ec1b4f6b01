/** The leaderboard of a campaign, kept up to date by updates. */

/** @import { BoardFacts, LeaderboardPayload, Row, RowsUpdate } from "../types.ts" */

/** @type {BoardFacts} */
const NOTHING_YET = {
  judges: 0,
  elo_per_score: null,
  fragility: null,
  outlook: null,
  cautions: [],
  left_out: {},
  pending: null,
};

export class Board {
  constructor() {
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {string[]} */
    this.order = [];
    this.sequence = -1;
    this.judgments = 0;
    this.facts = NOTHING_YET; // all but the rows and counts
  }

  /**
   * Replace the whole leaderboard.
   * @param {LeaderboardPayload} leaderboard
   */
  replace(leaderboard) {
    const { sequence, judgments, rows } = leaderboard;
    this.rows = new Map(rows.map((row) => [row.system, row]));
    this.order = rows.map((row) => row.system);
    this.sequence = sequence;
    this.judgments = judgments;
    this.facts = leaderboard;
  }

  /**
   * Apply an update. Without an order in it, the order stays.
   * @param {RowsUpdate} update
   */
  update({ sequence, judgments, order, rows, gone, board }) {
    for (const system of gone) this.rows.delete(system);
    for (const row of rows) this.rows.set(row.system, row);
    if (order) this.order = order;
    this.sequence = sequence;
    this.judgments = judgments;
    if (board) this.facts = board;
  }

  /** Return the rows, island by island, the best first. */
  ranked() {
    return this.order.map((system) => this.rows.get(system)).filter((row) => row !== undefined);
  }

  get clusters() {
    return new Set(this.ranked().map(({ island, cluster }) => `${island}/${cluster}`)).size;
  }
}
