/** Elements made of values: whatever people named goes in as text, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

/** Make an element; attributes that are null or false are left out, functions listen, texts become text. */
export function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

export const button = (text, click, attributes = {}) =>
  element("button", { type: "button", click, ...attributes }, text);

export function drawing(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

function furnish(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A name that someone gave, kept from turning the text around it to the other direction. */
export const named = (name) => element("bdi", {}, name);

/** Change a text only where it differs, so that a selection in the rest of the page stands. */
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

let marked = null; // the selection while there is one; to ask for it each time would cost a layout
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  marked = selection && !selection.isCollapsed ? selection : null;
});

/** Whether someone is marking text in a place just now, to copy it. */
export const isBeingSelected = (place) => marked !== null && marked.containsNode(place, true);
