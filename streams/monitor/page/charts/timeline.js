/** A value over the last minutes, since the page was opened. */

/** @import { ChartOptions, TimedValue } from "../types.ts" */

const SHORTEST = 60000; // milliseconds from left to right
const LEAST = 10; // value at the top

/**
 * @param {TimedValue[]} points
 * @param {{ label: string, colour: string }} style
 * @returns {ChartOptions}
 */
export function timelineChart(points, { label, colour }) {
  const now = points[points.length - 1].at;
  return (Plot, width) => ({
    height: 150,
    marginLeft: 46,
    marginRight: 12,
    marginTop: 22,
    marginBottom: 26,
    x: {
      type: "time",
      label: null,
      domain: [Math.min(points[0].at.getTime(), now.getTime() - SHORTEST), now],
      ticks: width < 520 ? 3 : 4,
      tickFormat: "%H:%M:%S",
    },
    y: {
      label,
      zero: true,
      nice: true,
      grid: true,
      ticks: 3,
      domain: [0, Math.max(LEAST, ...points.map(({ value }) => value))],
    },
    marks: [
      Plot.areaY(points, { x: "at", y: "value", fill: colour, fillOpacity: 0.12 }),
      Plot.lineY(points, { x: "at", y: "value", stroke: colour, strokeWidth: 1.6 }),
    ],
  });
}
