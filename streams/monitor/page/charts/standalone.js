/** A chart as an SVG file: the page's colours and fonts written into it, so that it looks the same anywhere. */

const COLOURS = ["fill", "stroke", "color"];
const FONT = 'Inter, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export function standalone(drawn) {
  const copy = drawn.cloneNode(true);
  const originals = [drawn, ...drawn.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  copies.forEach((part, i) => {
    for (const name of COLOURS) {
      const meant = part.style?.[name] || part.getAttribute(name) || "";
      if (!meant.includes("var(")) continue;
      const found = getComputedStyle(originals[i])[name];
      if (part.style?.[name]) part.style[name] = found;
      else part.setAttribute(name, found);
    }
  });
  const page = getComputedStyle(document.body);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.color = page.color;
  copy.style.background = page.backgroundColor;
  copy.style.fontFamily = FONT;
  for (const style of copy.querySelectorAll("style")) {
    style.textContent = style.textContent.replaceAll(/var\(--plot-background\)/g, page.backgroundColor);
  }
  return new XMLSerializer().serializeToString(copy);
}
