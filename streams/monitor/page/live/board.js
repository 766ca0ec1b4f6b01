/** A campaign's leaderboard, kept up to date by what changed. */

export class Board {
  constructor() {
    this.rows = new Map();
    this.order = [];
    this.sequence = -1;
    this.judgments = 0;
  }

  /** Take a whole leaderboard. */
  replace({ sequence, judgments, rows }) {
    this.rows = new Map(rows.map((row) => [row.system, row]));
    this.order = rows.map((row) => row.system);
    this.sequence = sequence;
    this.judgments = judgments;
  }

  /** Take the rows that changed; the order stands if none is given. */
  change({ sequence, judgments, order, rows, gone }) {
    for (const system of gone) this.rows.delete(system);
    for (const row of rows) this.rows.set(row.system, row);
    if (order) this.order = order;
    this.sequence = sequence;
    this.judgments = judgments;
  }

  /** The rows from the best to the last. */
  ranked() {
    return this.order.map((system) => this.rows.get(system)).filter(Boolean);
  }

  get clusters() {
    return this.ranked().reduce((most, row) => Math.max(most, row.cluster), 0);
  }
}
