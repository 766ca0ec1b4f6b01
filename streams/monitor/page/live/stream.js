/** Server-sent events with reconnection. */

/** @import { ConnectionState } from "../types.ts" */

import { RequestError, fetchJson } from "../shared/api.js";

const SHORTEST_WAIT = 1000;
const LONGEST_WAIT = 15000;
const HIDDEN = 30000; // milliseconds in the background before the connection is closed: a browser has six for all tabs
const FINAL = [401, 404]; // status codes that another try would not change

/**
 * @typedef {object} StreamOptions
 * @property {Record<string, (data: any) => void>} events what to do with each event
 * @property {string} check a path whose response explains why there are no events
 * @property {(state: ConnectionState, error?: RequestError) => void} onState called when the connection changes
 */

export class Stream {
  /**
   * @param {string} path
   * @param {StreamOptions} options
   */
  constructor(path, { events, check, onState }) {
    this.path = path;
    this.events = events;
    this.check = check;
    this.onState = onState;
    this.wait = 0;
    this.ended = false;
    this.paused = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {number | undefined} */
    this.hiddenTimer = undefined;
    this.listening = new AbortController();
    document.addEventListener("visibilitychange", () => this.visibilityChanged(), { signal: this.listening.signal });
    this.source = this.open();
  }

  open() {
    const source = new EventSource(this.path);
    source.onopen = () => {
      this.wait = 0;
      this.onState("live");
    };
    source.onerror = () => {
      this.onState("reconnecting");
      // The browser reconnects by itself after a broken connection, but not after a status other than 200.
      if (source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.reconnect(), this.wait);
    };
    for (const [name, handle] of Object.entries(this.events)) {
      source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
    }
    return source;
  }

  async reconnect() {
    this.wait = Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, 2 * this.wait));
    try {
      await fetchJson(this.check);
    } catch (error) {
      const final = error instanceof RequestError && FINAL.includes(error.status);
      if (!this.ended && final) return this.onState("refused", error);
    }
    if (!this.ended && !this.paused) this.source = this.open();
  }

  visibilityChanged() {
    clearTimeout(this.hiddenTimer);
    if (document.hidden) this.hiddenTimer = setTimeout(() => this.pause(), HIDDEN);
    else if (this.paused) this.resume();
  }

  pause() {
    this.paused = true;
    clearTimeout(this.timer);
    this.source.close();
    this.onState("paused");
  }

  resume() {
    this.paused = false;
    this.source = this.open();
  }

  close() {
    this.ended = true;
    this.listening.abort();
    clearTimeout(this.hiddenTimer);
    clearTimeout(this.timer);
    this.source.close();
  }
}
