/** The form for a token, where reads are closed; the monitor keeps the session in a cookie that no script can read. */

import { element, say } from "./shared/elements.js";
import { showConnection } from "./live/connection.js";

export function askForToken(main, onOpened) {
  showConnection("locked");
  const said = element("p", { class: "problem", role: "alert", id: "token-problem" });
  const field = element("input", {
    id: "token",
    type: "password",
    required: true,
    autocomplete: "current-password",
    "aria-describedby": "token-problem",
  });
  const form = element(
    "form",
    { class: "token", submit: (event) => open(event, field, said, onOpened) },
    element("h1", {}, "This monitor is closed"),
    element("p", {}, "Whoever runs it can give you a token."),
    element("label", { for: "token" }, "Token"),
    element("div", { class: "together" }, field, element("button", { type: "submit" }, "Open")),
    said,
  );
  main.replaceChildren(form);
  field.focus();
}

async function open(event, field, said, onOpened) {
  event.preventDefault();
  const body = JSON.stringify({ token: field.value });
  const response = await fetch("session", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  if (response.ok) return onOpened();
  const answer = await response.json().catch(() => ({}));
  say(said, answer.error?.message ?? `the monitor answered ${response.status}`);
  field.select();
}
