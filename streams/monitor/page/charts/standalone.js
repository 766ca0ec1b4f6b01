/** A chart as an SVG file that contains the page's colours and fonts, and looks the same everywhere. */

const COLOURS = /** @type {const} */ (["fill", "stroke", "color"]);
const FONT = 'Inter, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** @param {SVGSVGElement} drawn */
export function standaloneSvg(drawn) {
  const copy = /** @type {SVGSVGElement} */ (drawn.cloneNode(true));
  const originals = [drawn, ...drawn.querySelectorAll("*")];
  /** @type {Element[]} */
  const copies = [copy, ...copy.querySelectorAll("*")];
  copies.forEach((part, i) => {
    const style = part instanceof SVGElement ? part.style : null;
    for (const name of COLOURS) {
      const colour = style?.[name] || part.getAttribute(name) || "";
      if (!colour.includes("var(")) continue;
      const computed = getComputedStyle(originals[i])[name];
      if (style?.[name]) style[name] = computed;
      else part.setAttribute(name, computed);
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
