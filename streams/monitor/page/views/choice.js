/** The systems that the reader has chosen. Each has its own colour in all charts. */

export const COLOURS = 8;

export class Choice {
  constructor() {
    /** @type {Map<string, number>} */
    this.colours = new Map(); // system -> number of its colour
    /** @type {(() => void)[]} */
    this.listeners = [];
    this.untouched = true;
  }

  get systems() {
    return [...this.colours.keys()];
  }

  /** @param {string} system */
  colourOf(system) {
    const colour = this.colours.get(system);
    return colour === undefined ? null : `var(--line-${colour + 1})`;
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.listeners.push(listener);
  }

  /**
   * Choose systems as long as the reader has chosen none. A system that stays keeps its colour.
   * @param {string[]} systems
   */
  propose(systems) {
    if (!this.untouched || systems.every((system) => this.colours.has(system))) return;
    for (const system of this.systems) if (!systems.includes(system)) this.colours.delete(system);
    for (const system of systems) if (!this.colours.has(system)) this.colours.set(system, this.freeColour());
    this.notify();
  }

  /** @param {string} system */
  toggle(system) {
    this.untouched = false;
    if (!this.colours.delete(system)) this.colours.set(system, this.freeColour());
    this.notify();
  }

  /** Return a free colour. If there is none, remove the system that was chosen first. */
  freeColour() {
    const used = new Set(this.colours.values());
    for (let colour = 0; colour < COLOURS; colour++) if (!used.has(colour)) return colour;
    const [[oldest, colour]] = this.colours;
    this.colours.delete(oldest);
    return colour;
  }

  notify() {
    for (const listener of this.listeners) listener();
  }
}
