/** Light or dark: as the system says, until someone says otherwise, which is remembered. */

const KEY = "judgestream.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a browser may keep its storage closed; then nothing is remembered
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // as above
  }
}

const current = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");

function put(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) button.textContent = current() === "dark" ? "Light" : "Dark";
  button?.setAttribute("aria-label", `Switch to ${current() === "dark" ? "light" : "dark"} colours`);
}

put(remembered());
dark.addEventListener("change", () => put(null));

export function offerThemes() {
  put(null);
  document.getElementById("theme").addEventListener("click", () => {
    const theme = current() === "dark" ? "light" : "dark";
    remember(theme);
    put(theme);
  });
}
