/** Elements made from values. Names go in as text, never as markup. */

/** @import { Attributes, Child } from "../types.ts" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element. Attributes that are null or false are left out. A function becomes an event listener.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * @param {string} text
 * @param {() => unknown} click
 * @param {Attributes} attributes
 */
export const button = (text, click, attributes = {}) =>
  element("button", { type: "button", click, ...attributes }, text);

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svgElement(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} made
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...flatten(children));
  return made;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function flatten(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return flatten(child);
    return child === null || child === undefined ? [] : [child];
  });
}

/**
 * Return the element of the page with an id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/**
 * Return a name as an element. Its writing direction does not affect the text around it.
 * @param {string} name
 */
export const nameElement = (name) => element("bdi", {}, name);

/**
 * Change a text only if it differs, so that a selection in the rest of the page stays.
 * @param {Element} place
 * @param {string} text
 */
export function setText(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** @type {Selection | null} */
let selected = null; // remembered, because asking for it each time costs a layout
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  selected = selection && !selection.isCollapsed ? selection : null;
});

/**
 * Return whether the reader is selecting text in a place, for example to copy it.
 * @param {Node} place
 */
export const isBeingSelected = (place) => selected !== null && selected.containsNode(place, true);
