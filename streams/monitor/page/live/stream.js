/** Server-sent events that come back by themselves, and a word on how fresh the page is. */

import { ask } from "../shared/api.js";

const SHORTEST_WAIT = 1000;
const LONGEST_WAIT = 15000;
const UNSEEN = 30000; // milliseconds out of sight, after which the connection is given back: a browser has six for all tabs
const FINAL = [401, 404]; // answers that another try would not change

/**
 * Follow a path's events: `events` maps each event's name to what takes its data, `check` is a path whose answer says
 * why there are none. `onState` hears "live", "reconnecting", "paused" while nobody looks, or "refused", with the error of a refusal.
 */
export class Stream {
  constructor(path, { events, check, onState }) {
    Object.assign(this, { path, events, check, onState, wait: 0, ended: false });
    this.listening = new AbortController();
    document.addEventListener("visibilitychange", () => this.noticed(), { signal: this.listening.signal });
    this.open();
  }

  open() {
    this.source = new EventSource(this.path);
    this.source.onopen = () => {
      this.wait = 0;
      this.onState("live");
    };
    this.source.onerror = () => {
      this.onState("reconnecting");
      // After a broken connection the browser tries again by itself; after an answer other than 200 it gives up.
      if (this.source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.again(), this.wait);
    };
    for (const [name, take] of Object.entries(this.events)) {
      this.source.addEventListener(name, (event) => take(JSON.parse(event.data)));
    }
  }

  async again() {
    this.wait = Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, 2 * this.wait));
    try {
      await ask(this.check);
    } catch (error) {
      if (!this.ended && FINAL.includes(error.status)) return this.onState("refused", error);
    }
    if (!this.ended && !this.paused) this.open();
  }

  noticed() {
    clearTimeout(this.unseen);
    if (document.hidden) this.unseen = setTimeout(() => this.pause(), UNSEEN);
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
    this.open();
  }

  close() {
    this.ended = true;
    this.listening.abort();
    clearTimeout(this.unseen);
    clearTimeout(this.timer);
    this.source.close();
  }
}
