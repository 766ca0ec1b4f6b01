/** The words at the top that say whether what is shown is live, and since when it is not. */

import { say } from "../shared/elements.js";
import { timeOfDay } from "../shared/format.js";

const STALE_AFTER = 10000;

const place = document.getElementById("connection");
const words = document.getElementById("connection-words");
let lost = null;

export function showConnection(state) {
  if (state === "live") lost = null;
  else if (state === "reconnecting") lost ??= new Date();
  else lost = null;
  show(state);
}

function show(state) {
  const stale = lost !== null && Date.now() - lost > STALE_AFTER;
  place.dataset.state = stale ? "stale" : state;
  say(words, stale ? `stale since ${timeOfDay(lost)}` : state);
}

setInterval(() => lost && show("reconnecting"), 1000);
