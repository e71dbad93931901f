// Who is in control of a desktop: follows the server's word, and asks it for changes.
import { fetchKeyed, ticketed } from "./page_key.js";
import { texts } from "./texts.js";

const AGAIN_MS = 2000;

/**
 * @typedef {{
 *   revision: number, holder: {kind: string, name: string}, asked: {name: string} | null, private: boolean, you: boolean,
 *   watchers: number, stopped: {count: number, not_stopped: string[], keys_pass: boolean} | null,
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
    /** Whether it is followed, with a socket or soon. */
    this.followed = false;
    /** Counts sockets, as a later one replaces one whose ticket is being asked for. */
    this.attempt = 0;
    /** The newest revision that is known of the service that is followed. */
    this.newest = 0;
  }

  async follow() {
    this.stop();
    this.followed = true;
    const { attempt } = this;
    // A service that was started again counts from 0.
    this.newest = 0;
    const address = new URL(`${this.address.href}/watch?viewer=${this.viewer}`);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const admitted = await ticketed(address);
    if (attempt !== this.attempt) {
      return;
    }
    const socket = new WebSocket(admitted.href);
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
    this.attempt += 1;
    this.followed = false;
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
    const answer = await fetchKeyed(this.address, {
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
