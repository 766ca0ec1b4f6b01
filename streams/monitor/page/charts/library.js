/** Observable Plot and d3 (vendor/), fetched when the first chart is drawn, so that the leaderboard need not wait. */

let loading = null;

export function library() {
  loading ??= script("d3.min.js")
    .then(() => script("plot.umd.min.js"))
    .then(() => globalThis.Plot);
  return loading;
}

function script(name) {
  return new Promise((loaded, failed) => {
    const tag = document.createElement("script");
    tag.src = new URL(`../vendor/${name}`, import.meta.url);
    tag.onload = loaded;
    tag.onerror = () => failed(new Error(`${name} could not be loaded`));
    document.head.append(tag);
  });
}
