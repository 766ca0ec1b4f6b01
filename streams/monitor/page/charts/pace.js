/** A measure over the last minutes, as this page has seen it. */

export function paceChart(points, { label, colour }) {
  return (Plot, width) => ({
    height: 150,
    marginLeft: 46,
    marginRight: 12,
    marginTop: 22,
    marginBottom: 26,
    x: { type: "time", label: null, ticks: width < 520 ? 3 : 5 },
    y: {
      label,
      zero: true,
      nice: true,
      grid: true,
      ticks: 3,
      domain: [0, Math.max(1, ...points.map(({ value }) => value))],
    },
    marks: [
      Plot.areaY(points, { x: "at", y: "value", fill: colour, fillOpacity: 0.12 }),
      Plot.lineY(points, { x: "at", y: "value", stroke: colour, strokeWidth: 1.6 }),
    ],
  });
}
