/** The form for a token, if reading needs one. The session is kept in a cookie that no script can read. */

import { element, setText } from "./shared/elements.js";
import { showConnection } from "./live/connection.js";

/**
 * Show the form. Call `onOpened` when the monitor has accepted a token.
 * @param {HTMLElement} main
 * @param {() => void} onOpened
 */
export function askForToken(main, onOpened) {
  showConnection("locked");
  const problem = element("p", { class: "problem", role: "alert", id: "token-problem" });
  const field = element("input", {
    id: "token",
    type: "password",
    required: true,
    autocomplete: "current-password",
    "aria-describedby": "token-problem",
  });
  const form = element(
    "form",
    { class: "token", submit: (event) => open(event, field, problem, onOpened) },
    element("h1", {}, "This monitor needs a token"),
    element("p", {}, "The operator of this monitor can give you one."),
    element("label", { for: "token" }, "Token"),
    element("div", { class: "together" }, field, element("button", { type: "submit" }, "Open")),
    problem,
  );
  main.replaceChildren(form);
  field.focus();
}

/**
 * @param {Event} event
 * @param {HTMLInputElement} field
 * @param {HTMLElement} problem
 * @param {() => void} onOpened
 */
async function open(event, field, problem, onOpened) {
  event.preventDefault();
  const body = JSON.stringify({ token: field.value });
  const response = await fetch("session", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  if (response.ok) return onOpened();
  const payload = await response.json().catch(() => ({}));
  setText(problem, payload.error?.message ?? `The monitor answered with status ${response.status}.`);
  field.select();
}
