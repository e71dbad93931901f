// Where a live view is opened: at an address of the desktop's own, which a ticket names, or through
// the service of this page.
import { fetchKeyed, ticketed } from "./page_key.js";

/** How long a page waits for an address of a desktop's own, which a firewall may block. */
export const REACH_MS = 3000;

/** @typedef {{url: URL, isOwn: boolean}} Place */

export class StreamAddress {
  /**
   * @param {URL} stream  through this service
   * @param {URL} tickets  where tickets are asked for
   * @param {boolean} asks  whether desktops may have addresses of their own
   * @param {{watchOnly?: boolean, post?: typeof fetchKeyed, admit?: typeof ticketed}} [options]
   */
  constructor(stream, tickets, asks, { watchOnly = false, post = fetchKeyed, admit = ticketed } = {}) {
    this.stream = stream;
    this.tickets = tickets;
    this.asks = asks;
    this.role = watchOnly ? "view" : "control";
    this.post = post;
    this.admit = admit;
  }

  /** Where it is opened this time: each ticket opens it once. @returns {Promise<Place>} */
  async next() {
    const url = this.asks ? await this.own() : null;
    return url === null ? { url: await this.admit(this.stream), isOwn: false } : { url, isOwn: true };
  }

  /** The desktop's own address cannot be reached from here: this page does not ask for it again. */
  unreachable() {
    this.asks = false;
  }

  /** @returns {Promise<URL | null>} */
  async own() {
    try {
      let answer = await this.ask();
      if (answer.status === 403 && this.role === "control") {
        // The credential is for watching only.
        this.role = "view";
        answer = await this.ask();
      }
      const { url } = answer.ok ? await answer.json() : {};
      if (!url) {
        return null;
      }
      const own = new URL(url);
      for (const [name, value] of this.stream.searchParams) {
        own.searchParams.set(name, value);
      }
      return own;
    } catch {
      // The stream through this service shows the reason.
      return null;
    }
  }

  ask() {
    return this.post(this.tickets, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ role: this.role }),
    });
  }
}
