/** The systems that someone looks at: a few, each in a colour of its own, wherever it is drawn. */

export const COLOURS = 8;

export class Choice {
  constructor() {
    this.places = new Map(); // system -> the number of its colour
    this.listeners = [];
    this.untouched = true;
  }

  get systems() {
    return [...this.places.keys()];
  }

  colourOf(system) {
    return this.places.has(system) ? `var(--line-${this.places.get(system) + 1})` : null;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  /** Begin with these, as long as nobody has chosen. */
  propose(systems) {
    if (!this.untouched || this.places.size > 0) return;
    systems.slice(0, COLOURS).forEach((system, place) => this.places.set(system, place));
    this.tell();
  }

  toggle(system) {
    this.untouched = false;
    if (!this.places.delete(system)) this.places.set(system, this.freeColour());
    this.tell();
  }

  clear() {
    this.untouched = false;
    this.places.clear();
    this.tell();
  }

  /** With all colours taken, the system chosen first gives its own up. */
  freeColour() {
    const taken = new Set(this.places.values());
    for (let colour = 0; colour < COLOURS; colour++) if (!taken.has(colour)) return colour;
    const [[oldest, colour]] = this.places;
    this.places.delete(oldest);
    return colour;
  }

  tell() {
    for (const listener of this.listeners) listener();
  }
}
