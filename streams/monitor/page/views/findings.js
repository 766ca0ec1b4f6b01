/** The banner above the page: problems of the servers and workers, with what to do, and notes. */

/** @import { Finding, FindingsPayload } from "../types.ts" */

import { byId, element, isBeingSelected, setText } from "../shared/elements.js";

const SHOWN = 3; // the others are folded
const COMMAND = /(judgestream(?: [\w./:=*-]*[\w/*])+|partitioner=\w+)/;

const place = byId("findings");
const spoken = byId("spoken");
let key = "";
/** @type {Set<string>} */
let announced = new Set();

/** @param {FindingsPayload} found */
export function showFindings({ problems, notes }) {
  const present = JSON.stringify([problems, notes]);
  if (present === key || isBeingSelected(place)) return;
  key = present;
  const open = place.querySelector("details")?.open ?? false;
  const all = [
    ...problems.map((finding) => entry("problem-finding", "Problem", finding)),
    ...notes.map((finding) => entry("note-finding", "Note", finding)),
  ];
  const more = all.slice(SHOWN);
  place.replaceChildren(
    ...all.slice(0, SHOWN),
    ...(more.length ? [element("details", { open }, element("summary", {}, `${more.length} more`), more)] : []),
  );
  announce(problems.map(({ text }) => text));
}

/** Remove the banner, for a reader who may not see it any more. */
export function hideFindings() {
  showFindings({ problems: [], notes: [] });
}

/**
 * @param {string} name
 * @param {string} label
 * @param {Finding} finding
 */
function entry(name, label, { text, detail, fix }) {
  return element(
    "div",
    { class: `finding ${name}` },
    element("p", {}, element("b", {}, element("span", { class: "unseen" }, `${label}: `), text), detail ? ` ${detail}` : null),
    fix ? element("p", { class: "fix" }, withCommands(fix)) : null,
  );
}

/**
 * Return a text with its commands and settings as code, so that they can be copied.
 * @param {string} text
 */
function withCommands(text) {
  return text.split(COMMAND).map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

/**
 * Tell a screen reader of new problems once. Their numbers change every second.
 * @param {string[]} texts
 */
function announce(texts) {
  const news = texts.filter((text) => !announced.has(text));
  if (news.length) setText(spoken, news.join(" "));
  else if (!texts.length && announced.size) setText(spoken, "All problems are solved.");
  announced = new Set(texts);
}
