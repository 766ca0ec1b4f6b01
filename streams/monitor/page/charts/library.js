/** Observable Plot and d3 (vendor/). They are loaded with the first chart, so that the leaderboard comes sooner. */

/** @import { Plot } from "../types.ts" */

/** @type {Promise<Plot> | null} */
let loading = null;

export function loadPlot() {
  loading ??= loadScript("d3.min.js")
    .then(() => loadScript("plot.umd.min.js"))
    .then(() => globalThis.Plot);
  return loading;
}

/** @param {string} name */
function loadScript(name) {
  return new Promise((loaded, failed) => {
    const tag = document.createElement("script");
    tag.src = new URL(`../vendor/${name}`, import.meta.url).href;
    tag.onload = loaded;
    tag.onerror = () => failed(new Error(`${name} could not be loaded`));
    document.head.append(tag);
  });
}
