// Changes of the agents that a chat started: the chat itself has no event while it waits for them, and
// its cards show what they do.
import { subscribe } from "../../updates.js";
import { isAtWork } from "../../words.js";

// These change nothing of what a card shows.
const DETAILS = ["text", "step", "message", "queue", "files", "egress"];

export class ChildChanges {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** The end of each subscription, by the child's id. @type {Map<string, () => void>} */
    this.followed = new Map();
  }

  /** Follows those that are at work.  @param {readonly Chat[]} children */
  follow(children) {
    for (const child of children) {
      const end = this.followed.get(child.id);
      if (isAtWork(child) && !end) {
        this.followed.set(child.id, this.subscribe(child.id));
      } else if (!isAtWork(child) && end) {
        end();
        this.followed.delete(child.id);
      }
    }
  }

  /** @param {string} id */
  subscribe(id) {
    const event = (/** @type {{kind: string}} */ { kind }) => DETAILS.includes(kind) || this.changed();
    return subscribe(`chat:${id}`, { event, again: this.changed });
  }
}
