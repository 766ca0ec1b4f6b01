/** The leaderboard as a figure for a paper or a slide: rank ranges as whiskers, lines between clusters. */

/** @import { ChartOptions, Row } from "../types.ts" */

import { decimal, decimalsFor } from "../shared/format.js";
import { labelWidth, shorten } from "./chart.js";

const MOST = 40; // characters of a name

/**
 * @param {Row[]} rows
 * @returns {ChartOptions}
 */
export function leaderboardChart(rows) {
  const digits = decimalsFor(rows.map(({ deviation }) => deviation));
  const systems = rows.map(({ system }) => system);
  const firstOfCluster = rows.filter((row, place) => place > 0 && row.cluster !== rows[place - 1].cluster);
  const index = new Map(systems.map((system, i) => [system, i]));
  /** @param {Row} row */
  const placeOf = ({ system }) => index.get(system) ?? 0;
  return (Plot) => ({
    width: 760,
    height: 50 + 22 * rows.length,
    marginLeft: labelWidth(systems, MOST),
    marginRight: 130,
    marginTop: 34,
    marginBottom: 8,
    x: {
      axis: "top",
      label: "rank, with the 95 % rank range",
      domain: [0.5, rows.length + 0.5],
      tickFormat: "d",
      ticks: Math.min(12, rows.length),
      labelAnchor: "left",
    },
    y: {
      type: "linear",
      domain: [rows.length - 0.5, -0.5],
      label: null,
      ticks: rows.map((_, i) => i),
      tickSize: 0,
      tickFormat: (/** @type {number} */ i) => shorten(systems[i] ?? "", MOST),
    },
    marks: [
      Plot.ruleY(firstOfCluster, {
        y: (row) => placeOf(row) - 0.5,
        stroke: "var(--rule)",
        insetLeft: -labelWidth(systems, MOST),
        insetRight: -130,
      }),
      Plot.ruleY(rows, {
        x1: "rank_low",
        x2: "rank_high",
        y: placeOf,
        stroke: "var(--blue)",
        strokeWidth: 2,
      }),
      Plot.dot(rows, { x: "rank", y: placeOf, r: 4, fill: "var(--blue)" }),
      Plot.text(rows, {
        frameAnchor: "right",
        textAnchor: "end",
        dx: 126,
        y: placeOf,
        fill: "var(--ink)",
        text: ({ score, deviation }) => `${decimal(score, digits)} ± ${decimal(deviation, digits)}`,
      }),
    ],
  });
}
