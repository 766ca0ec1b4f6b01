/** Light or dark colours: the system's choice, until the reader chooses. The choice is remembered. */

import { recall, remember } from "./shared/memory.js";

const KEY = "theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

const current = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");

/** @param {string | null} theme */
function apply(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) button.textContent = current() === "dark" ? "Light" : "Dark";
  button?.setAttribute("aria-label", `Switch to ${current() === "dark" ? "light" : "dark"} colours`);
}

apply(recall(KEY));
dark.addEventListener("change", () => apply(null));

export function setUpThemes() {
  apply(null);
  document.getElementById("theme")?.addEventListener("click", () => {
    const theme = current() === "dark" ? "light" : "dark";
    remember(KEY, theme);
    apply(theme);
  });
}
