/** Server-sent events that come back by themselves, and a word on how fresh the page is. */

import { ask } from "../shared/api.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 15000;

/**
 * Follow a path's events: `events` maps each event's name to what takes its data.
 * `onState` hears "live", "reconnecting" or "refused", with the error of a refusal.
 */
export class Stream {
  constructor(path, { events, onState }) {
    this.path = path;
    this.events = events;
    this.onState = onState;
    this.wait = FIRST_WAIT;
    this.ended = false;
    this.open();
  }

  open() {
    this.source = new EventSource(this.path);
    this.source.onopen = () => {
      this.wait = FIRST_WAIT;
      this.onState("live");
    };
    this.source.onerror = () => {
      this.onState("reconnecting");
      // After a broken connection the browser tries again by itself; after an answer other than 200 it gives up.
      if (this.source.readyState === EventSource.CLOSED) this.again();
    };
    for (const [name, take] of Object.entries(this.events)) {
      this.source.addEventListener(name, (event) => take(JSON.parse(event.data)));
    }
  }

  again() {
    this.timer = setTimeout(async () => {
      try {
        await ask("campaigns");
      } catch (error) {
        if (error.status === 401) return this.onState("refused", error);
      }
      if (!this.ended) this.open();
    }, this.wait);
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  close() {
    this.ended = true;
    clearTimeout(this.timer);
    this.source.close();
  }
}
