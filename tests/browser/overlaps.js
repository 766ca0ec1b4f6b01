// Blocks of the page, and cells of a row, that lie over each other.
() => {
  const BLOCKS =
    ".heading, .figures > div, .outlook, .panel, .panel-head h2, .tools > *, .note, .chart, table, .chips li, " +
    ".sections li, .problem, summary, .more";
  const found = [];
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().height > 1;
  const compare = (elements) =>
    elements.forEach((one, place) =>
      elements.slice(place + 1).forEach((other) => {
        if (one.contains(other) || other.contains(one)) return;
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 1) found.push([one, other].map(named).join(" and "));
      }),
    );
  const named = (element) => `${element.className || element.tagName} (${element.textContent.trim().slice(0, 30)})`;
  compare([...document.querySelector("main").querySelectorAll(BLOCKS)].filter(seen));
  for (const row of document.querySelectorAll("main tbody tr")) if (seen(row)) compare([...row.children].filter(seen));
  return found;
};
