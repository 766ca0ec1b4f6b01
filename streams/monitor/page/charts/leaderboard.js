/** The leaderboard as a figure for a paper or a slide: both rank ranges as whiskers, lines between clusters. */

/** @import { ChartOptions, Row } from "../types.ts" */

import { decimal, decimalsFor } from "../shared/format.js";
import { islandsOf, lineAbove } from "../shared/rows.js";
import { labelWidth, shorten } from "./chart.js";

const MOST = 40; // characters of a name
const LABEL = "rank, with 95 % rank ranges: line for the same judges, band for other judges; solid lines hold for both";

/**
 * @param {Row[]} rows island by island, the best first
 * @param {string} scale "score" or "elo"
 * @returns {ChartOptions}
 */
export function leaderboardChart(rows, scale) {
  const digits = scale === "elo" ? 0 : decimalsFor(rows.map(({ deviation }) => deviation));
  const systems = rows.map(({ system }) => system);
  const islands = islandsOf(rows);
  const places = Math.max(...islands.map((members) => members.length));
  const known = rows.filter(({ judge_rank_low }) => judge_rank_low !== null);
  // Between two islands there is a free row with a text.
  const index = new Map(islands.flatMap((members, i) => members.map((row) => [row.system, systems.indexOf(row.system) + i])));
  const height = rows.length + islands.length - 1;
  const names = new Map([...index].map(([system, place]) => [place, system]));
  /** @param {Row} row */
  const placeOf = ({ system }) => index.get(system) ?? 0;
  return (Plot) => {
    /** @param {"solid" | "dashed"} kind */
    const lines = (kind) =>
      Plot.ruleY(
        rows.filter((row, place) => lineAbove(row, rows[place - 1]) === kind),
        {
          y: (row) => placeOf(row) - 0.5,
          stroke: "var(--rule)",
          strokeDasharray: kind === "dashed" ? "5 4" : null,
          insetLeft: -labelWidth(systems, MOST),
          insetRight: -130,
        },
      );
    return {
      width: 760,
      height: 50 + 22 * height,
      marginLeft: labelWidth(systems, MOST),
      marginRight: 130,
      marginTop: 34,
      marginBottom: 8,
      x: {
        axis: "top",
        label: LABEL,
        domain: [0.5, places + 0.5],
        tickFormat: "d",
        ticks: Math.min(12, places),
        labelAnchor: "left",
      },
      y: {
        type: "linear",
        domain: [height - 0.5, -0.5],
        label: null,
        ticks: [...names.keys()],
        tickSize: 0,
        tickFormat: (/** @type {number} */ place) => shorten(names.get(place) ?? "", MOST),
      },
      marks: [
        lines("solid"),
        lines("dashed"),
        Plot.text(islands.slice(1), {
          frameAnchor: "left",
          y: (members) => placeOf(members[0]) - 1,
          fill: "var(--soft)",
          text: () => "never compared with those above",
        }),
        Plot.ruleY(known, {
          x1: "judge_rank_low",
          x2: "judge_rank_high",
          y: placeOf,
          stroke: "var(--blue)",
          strokeOpacity: 0.2,
          strokeWidth: 9,
        }),
        Plot.ruleY(rows, { x1: "rank_low", x2: "rank_high", y: placeOf, stroke: "var(--blue)", strokeWidth: 2 }),
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
    };
  };
}
