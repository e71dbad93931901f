// Who is in control of a desktop: follows the server's word, and asks it for changes.
import { texts } from "./texts.js";

const AGAIN_MS = 2000;

/**
 * @typedef {{
 *   revision: number, holder: {kind: string, name: string}, asked: {name: string} | null, private: boolean, you: boolean,
 *   watchers: number, stopped: {count: number, not_stopped: string[]} | null,
 * }} LeaseState
 */

export class Lease {
  /** @param {URL} status  the desktop's resource; the lease is below it
   *  @param {string} viewer  distinguishes this page from all others
   *  @param {(state: LeaseState) => void} changed  is called with every new state */
  constructor(status, viewer, changed) {
    this.address = new URL(status.href.replace(/\/$/, "") + "/lease");
    this.viewer = viewer;
    this.changed = changed;
    /** @type {LeaseState | null} */
    this.state = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** The newest revision that is known of the service that is followed. */
    this.newest = 0;
  }

  follow() {
    this.stop();
    // A service that was started again counts from 0.
    this.newest = 0;
    const address = new URL(`${this.address.href}/watch?viewer=${this.viewer}`);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address.href);
    socket.addEventListener("message", (event) => {
      const state = JSON.parse(event.data);
      // The answer to a request may have overtaken it.
      if (state.revision >= this.newest) {
        this.remember(state);
        this.state = state;
        this.changed(state);
      }
    });
    socket.addEventListener("close", () => {
      if (this.socket === socket) {
        this.timer = setTimeout(() => this.follow(), AGAIN_MS);
      }
    });
    this.socket = socket;
  }

  /** @param {{revision?: number}} state */
  remember({ revision = 0 }) {
    this.newest = Math.max(this.newest, revision);
  }

  stop() {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  /**
   * @param {string} name
   * @param {boolean} isPrivate
   * @returns {Promise<LeaseState & {granted: boolean}>}
   */
  take(name, isPrivate) {
    return this.say({ action: "take", name, private: isPrivate });
  }

  release() {
    return this.say({ action: "release" });
  }

  keep() {
    return this.say({ action: "renew" });
  }

  /** @param {object} body @returns {Promise<any>} */
  async say(body) {
    const answer = await fetch(this.address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, viewer: this.viewer }),
    });
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      throw new Error(found.message || texts.screen.answered(answer.status));
    }
    this.remember(found);
    return found;
  }
}

/** Something that no other page has; works without a secure context too. */
export function viewerId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
