/** The scale of the scores: gaps as they are fitted, or Elo points with 1000 at the mean or at an anchor. */

/** @import { Row } from "../types.ts" */

import { recall, remember } from "./memory.js";
import { islandsOf } from "./rows.js";

const CENTRE = 1000; // Elo points of the mean, or of the anchor

export class Scale {
  constructor() {
    this.wanted = recall("scale") ?? "score";
    this.anchor = recall("anchor") ?? ""; // a system, or "" for the mean of the systems
  }

  /** @param {string} name "score" or "elo" */
  choose(name) {
    this.wanted = name;
    remember("scale", name);
  }

  /** @param {string} system */
  chooseAnchor(system) {
    this.anchor = system;
    remember("anchor", system);
  }

  /** @param {number | null} perScore Elo points of one unit of score; null if the model has no odds */
  nameFor(perScore) {
    return this.wanted === "elo" && perScore !== null ? "elo" : "score";
  }

  /**
   * Return the rows on the chosen scale. The anchor is that of its island; other islands have 1000 at their mean.
   * @param {Row[]} rows
   * @param {number | null} perScore
   */
  apply(rows, perScore) {
    if (perScore === null || this.nameFor(perScore) === "score") return rows;
    /** @type {Map<number, number>} */
    const zeros = new Map();
    for (const members of islandsOf(rows)) {
      const mean = members.reduce((sum, { score }) => sum + score, 0) / members.length;
      zeros.set(members[0].island, members.find(({ system }) => system === this.anchor)?.score ?? mean);
    }
    return rows.map((row) => ({
      ...row,
      score: CENTRE + perScore * (row.score - (zeros.get(row.island) ?? 0)),
      deviation: perScore * row.deviation,
    }));
  }
}
