/** Counts as bars, the largest first. */

/** @import { ChartOptions } from "../types.ts" */

import { count } from "../shared/format.js";
import { labelWidth } from "./chart.js";

/**
 * @param {Record<string, number>} counts
 * @returns {ChartOptions}
 */
export function barChart(counts) {
  const bars = Object.entries(counts)
    .map(([name, times]) => ({ name, times }))
    .sort((one, other) => other.times - one.times);
  const names = bars.map(({ name }) => name);
  return (Plot) => ({
    height: 10 + 26 * bars.length,
    marginLeft: labelWidth(names, 24),
    marginRight: 56,
    marginTop: 4,
    marginBottom: 4,
    x: { axis: null },
    y: { label: null, domain: names, tickSize: 0, padding: 0.35 },
    marks: [
      Plot.barX(bars, { x: "times", y: "name", fill: "var(--heat-orange)", fillOpacity: 0.75, rx: 2 }),
      Plot.text(bars, {
        x: "times",
        y: "name",
        text: ({ times }) => count(times),
        textAnchor: "start",
        dx: 6,
        fill: "var(--ink)",
      }),
    ],
  });
}
