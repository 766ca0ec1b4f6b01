/** The leaderboard as a figure for a paper or a slide: whiskers over the ranks, clusters ruled off. */

import { decimal, decimalsFor } from "../shared/format.js";
import { roomFor, shortened } from "./chart.js";

const MOST = 40; // letters of a name

export function standingChart(rows) {
  const digits = decimalsFor(rows.map(({ deviation }) => deviation));
  const systems = rows.map(({ system }) => system);
  const begins = rows.filter((row, place) => place > 0 && row.cluster !== rows[place - 1].cluster);
  const place = new Map(systems.map((system, i) => [system, i]));
  return (Plot) => ({
    width: 760,
    height: 50 + 22 * rows.length,
    marginLeft: roomFor(systems, MOST),
    marginRight: 130,
    marginTop: 34,
    marginBottom: 8,
    x: {
      axis: "top",
      label: "rank, and the ranks at 95 %",
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
      tickFormat: (i) => shortened(systems[i] ?? "", MOST),
    },
    marks: [
      Plot.ruleY(begins, {
        y: ({ system }) => place.get(system) - 0.5,
        stroke: "var(--rule)",
        insetLeft: -roomFor(systems, MOST),
        insetRight: -130,
      }),
      Plot.ruleY(rows, {
        x1: "rank_low",
        x2: "rank_high",
        y: ({ system }) => place.get(system),
        stroke: "var(--blue)",
        strokeWidth: 2,
      }),
      Plot.dot(rows, { x: "rank", y: ({ system }) => place.get(system), r: 4, fill: "var(--blue)" }),
      Plot.text(rows, {
        frameAnchor: "right",
        textAnchor: "end",
        dx: 126,
        y: ({ system }) => place.get(system),
        fill: "var(--ink)",
        text: ({ score, deviation }) => `${decimal(score, digits)} ± ${decimal(deviation, digits)}`,
      }),
    ],
  });
}
