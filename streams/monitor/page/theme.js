/** Light or dark colours: the system's choice, until the reader chooses. The choice is remembered. */

const KEY = "judgestream.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // the browser may block the storage
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // the browser may block the storage; then the choice is not remembered
  }
}

const current = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");

/** @param {string | null} theme */
function apply(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) button.textContent = current() === "dark" ? "Light" : "Dark";
  button?.setAttribute("aria-label", `Switch to ${current() === "dark" ? "light" : "dark"} colours`);
}

apply(remembered());
dark.addEventListener("change", () => apply(null));

export function setUpThemes() {
  apply(null);
  document.getElementById("theme")?.addEventListener("click", () => {
    const theme = current() === "dark" ? "light" : "dark";
    remember(theme);
    apply(theme);
  });
}
