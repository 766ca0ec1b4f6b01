/** Downloads: content of the page saved as a file. */

/**
 * @param {string} name
 * @param {string} type
 * @param {string} content
 */
function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/**
 * @param {string} name
 * @param {string} text
 */
export const saveCsv = (name, text) => save(`${name}.csv`, "text/csv;charset=utf-8", `\ufeff${text}`);

/**
 * @param {string} name
 * @param {string} text
 */
export const saveSvg = (name, text) => save(`${name}.svg`, "image/svg+xml", text);
