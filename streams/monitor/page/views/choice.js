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

  /** Show these as long as nobody has chosen; who stays keeps its colour. */
  propose(systems) {
    if (!this.untouched || systems.every((system) => this.places.has(system))) return;
    for (const system of this.systems) if (!systems.includes(system)) this.places.delete(system);
    for (const system of systems) if (!this.places.has(system)) this.places.set(system, this.freeColour());
    this.tell();
  }

  toggle(system) {
    this.untouched = false;
    if (!this.places.delete(system)) this.places.set(system, this.freeColour());
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
