/** The text at the top of the page: whether the data is live, and since when it is not. */

/** @import { ConnectionState } from "../types.ts" */

import { byId, setText } from "../shared/elements.js";
import { timeOfDay } from "../shared/format.js";

const TEXTS = { refused: "not connected", locked: "token needed" };
const STALE_AFTER = 10000; // milliseconds

const place = byId("connection");
const text = byId("connection-words");
/** @type {Date | null} */
let lostAt = null;

/** @param {ConnectionState} state */
export function showConnection(state) {
  if (state === "reconnecting") lostAt ??= new Date();
  else lostAt = null;
  show(state);
}

/** @param {ConnectionState} state */
function show(state) {
  const stale = lostAt !== null && Date.now() - lostAt.getTime() > STALE_AFTER;
  place.dataset.state = stale ? "stale" : state;
  const words = state === "refused" || state === "locked" ? TEXTS[state] : state;
  setText(text, lostAt && stale ? `stale since ${timeOfDay(lostAt)}` : words);
}

setInterval(() => lostAt && show("reconnecting"), 1000);
