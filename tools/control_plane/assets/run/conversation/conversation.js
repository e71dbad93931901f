// The conversation of a run: messages, the agent's text and thinking, and the cards of its calls, in
// order and as they arrive.
//
// - `nodes.js` decides what there is, `cards.js` makes the elements, `keyed` keeps what stays.
// - The rows of the database are the truth: after each event they are read again. Only the text of the
//   reply that the model writes just now comes from events.
// - A long conversation begins with its newest nodes; a button shows earlier ones. A page that follows
//   the newest node goes on to follow it, until its person scrolls up.
import { get } from "../../api.js";
import { byId, keyed } from "../../dom.js";
import { pause } from "../../pause.js";
import { isAtWork } from "../../words.js";
import { activityWords } from "./activity_words.js";
import { makeNode, updateNode } from "./cards.js";
import { nodesOf } from "./nodes.js";

const PORTION = 60;
const SOME = 15;
const NEAR_END = 80;

export class Conversation {
  /** @param {string} id  of the chat, as in an address  @param {(stepId: string) => void} open */
  constructor(id, open) {
    this.id = id;
    this.open = open;
    this.list = byId("conversation");
    this.box = byId("conversation-panel");
    this.earlier = byId("conversation-earlier");
    /** @type {import("./nodes.js").ChatMessage[]} */
    this.messages = [];
    /** @type {any} */
    this.run = null;
    this.streaming = "";
    this.waits = false;
    /** @type {import("./nodes.js").ConversationNode[]} */
    this.nodes = [];
    this.shown = PORTION;
    this.follows = true;
    this.box.addEventListener("scroll", () => {
      this.follows = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR_END;
    });
    // Pictures and long texts get their height after they were added.
    new ResizeObserver(() => this.toEnd()).observe(this.list);
    this.box.addEventListener("shown", () => this.toEnd());
    this.earlier.addEventListener("click", () => {
      this.follows = false;
      const height = this.box.scrollHeight;
      this.shown += PORTION;
      this.draw();
      this.box.scrollTop += this.box.scrollHeight - height;
    });
  }

  /** Reads the messages and shows them with the steps of `run`.  @param {any} run */
  async show(run) {
    this.run = run;
    // A share link covers the conversation only if that was chosen when it was made.
    if (run.reads_conversation) {
      const { messages } = await get(`api/v0/chats/${this.id}/messages`);
      if (messages.length !== this.messages.length) {
        // The reply is stored now, or the person interrupted it.
        this.streaming = "";
      }
      this.messages = messages;
    }
    await this.drawInPortions();
  }

  /** Draws the newest nodes first; texts of Markdown take long. */
  async drawInPortions() {
    const nodes = this.nodesNow();
    for (let count = SOME; this.list.childElementCount < count && count < this.shown; count += SOME) {
      this.draw(count, nodes);
      if (nodes.length <= count) {
        return;
      }
      await pause();
    }
    this.draw();
  }

  /** Shows the text so far of a reply.  @param {string} text */
  stream(text) {
    this.streaming = text;
    if (this.run && !this.waits) {
      this.waits = true;
      // Many tokens may come between two frames.
      requestAnimationFrame(() => {
        this.waits = false;
        this.draw();
      });
    }
  }

  nodesNow() {
    const { messages, run, streaming } = this;
    return nodesOf({ messages, steps: run.chat.steps, people: run.people || [], streaming });
  }

  /** @param {number} most nodes @param {import("./nodes.js").ConversationNode[]} nodes */
  draw(most = this.shown, nodes = this.nodesNow()) {
    this.nodes = nodes;
    this.earlier.hidden = nodes.length <= this.shown;
    keyed(
      this.list,
      nodes.slice(-most),
      (node) => node.key,
      (node) => makeNode(node, this.open),
      (made, node) => updateNode(made, node, activityWords, this.run.children || [], isAtWork(this.run.chat)),
    );
    byId("conversation-none").hidden = nodes.length > 0;
    this.toEnd();
  }

  toEnd() {
    if (this.follows) {
      this.box.scrollTop = this.box.scrollHeight;
    }
  }
}
