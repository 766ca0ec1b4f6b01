// Texts that are clipped, or stand outside the page or their chart, be it that one could scroll there; what is meant for
// screen readers alone is not cut.
() => {
  const cut = [];
  const report = (what, element) => cut.push(`${what}: ${element.textContent.trim().slice(0, 60)}`);
  for (const element of document.querySelectorAll("main *, header *")) {
    if (element.closest("svg, .unseen") || !element.checkVisibility()) continue;
    if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim())) continue;
    const { left, right } = element.getBoundingClientRect();
    const clips = getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    const outside = left < -1 || right > innerWidth + 1;
    if (clips || outside) report(element.tagName, element);
  }
  for (const text of document.querySelectorAll("main .chart svg text")) {
    const { left, right, width } = text.getBoundingClientRect();
    const chart = text.closest(".chart").getBoundingClientRect();
    if (width && (left < chart.left - 2 || right > innerWidth + 1)) report("chart", text);
  }
  return cut;
};
