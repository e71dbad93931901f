// What a person is notified of: agents that need a person, and tasks that have ended. No DOM.
import { hasWorked } from "../home/order.js";
import { isAtWork } from "../words.js";

/** @typedef {"needsPerson" | "ended" | "failed"} NoticeKind */
/** @typedef {{id: string, title: string, kind: NoticeKind}} Notice */

export class ChatChanges {
  constructor() {
    /** @type {Map<string, Chat> | null} */
    this.known = null;
    /** Unix seconds at which the newest chat of the last list was created. */
    this.newest = -Infinity;
  }

  /**
   * The notices of what has changed since the last list; none for the first one.
   *
   * @param {readonly Chat[]} chats
   * @returns {Notice[]}
   */
  update(chats) {
    const before = this.known;
    this.known = new Map(chats.map((chat) => [chat.id, chat]));
    const found = [];
    for (const chat of before === null ? [] : chats) {
      const kind = this.kindOf(before?.get(chat.id), chat);
      if (kind) {
        found.push({ id: chat.id, title: chat.title ?? "", kind });
      }
    }
    this.newest = Math.max(this.newest, ...chats.map((chat) => chat.created_at));
    return found;
  }

  /**
   * @param {Chat | undefined} before
   * @param {Chat} now
   * @returns {NoticeKind | null}
   */
  kindOf(before, now) {
    if (now.state === "requires_action") {
      return before?.state === "requires_action" ? null : "needsPerson";
    }
    const parent = now.parent_id ? this.known?.get(now.parent_id) : undefined;
    // A short task may begin and end between two lists.
    const worked = before ? isAtWork(before) : Boolean(now.ended_at) && now.created_at > this.newest;
    if (!worked || isAtWork(now) || (parent && hasWorked(parent))) {
      // The end of a subagent concerns the agent that started it.
      return null;
    }
    return now.state === "error" || now.outcome === "failed" ? "failed" : "ended";
  }
}
