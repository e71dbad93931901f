// The last visit of a person to the home page, and what has ended since. No DOM.
//
// The browser keeps it, for each person who signs in there: it says what this browser has shown, so
// that opening a page writes nothing to the database, and a watcher, who may change nothing, has it too.
import { isAtWork } from "../words.js";
import { hasWorked } from "./order.js";

/** Seconds: one who comes back sooner still reads what was there. */
export const SHORT_ABSENCE = 600;
export const MOST_ENDED = 8;

export class LastVisit {
  /**
   * @param {Pick<Storage, "getItem" | "setItem">} storage
   * @param {string} person  id of the person who is signed in; empty for the only owner
   */
  constructor(storage, person) {
    this.storage = storage;
    this.key = `deskhand-last-visit-${person}`;
    /** End of the visit before this one, in unix seconds; null for a first visit. @type {number | null} */
    this.since = this.read();
  }

  /** @returns {number | null} */
  read() {
    try {
      return Number(this.storage.getItem(this.key)) || null;
    } catch {
      return null;
    }
  }

  /** The page is not in view any more, or all was seen.  @param {number} now */
  left(now) {
    try {
      this.storage.setItem(this.key, String(now));
    } catch {
      // Private windows may have no storage: then each visit is a first one.
    }
  }

  /** The page is in view again.  @param {number} now */
  back(now) {
    const left = this.read();
    if (left !== null && now - left > SHORT_ABSENCE) {
      this.since = left;
    }
  }

  /** @param {number} now */
  seen(now) {
    this.left(now);
    this.since = now;
  }

  /**
   * The runs that have ended since, the newest end first, without those of subagents.
   *
   * @param {readonly Chat[]} chats
   * @returns {Chat[]}
   */
  ended(chats) {
    const { since } = this;
    if (since === null) {
      return [];
    }
    const agents = new Set(chats.filter(hasWorked).map(({ id }) => id));
    return chats
      .filter((chat) => hasWorked(chat) && !isAtWork(chat) && (chat.ended_at ?? 0) > since && !agents.has(chat.parent_id ?? ""))
      .sort((a, b) => (b.ended_at ?? 0) - (a.ended_at ?? 0))
      .slice(0, MOST_ENDED);
  }
}
