// What the agent of a live desktop does, beside its picture: its conversation, stops, and the message box.
import { address, get } from "../api.js";
import { byId } from "../dom.js";
import { Conversation } from "../run/conversation/conversation.js";
import { StopButtons } from "../run/conversation/stop_buttons.js";
import { TalkBox } from "../run/conversation/talk_box.js";

const KEPT = "deskhand-live-side";
/** Narrower pages begin with the picture alone. */
const ROOMY = "(width >= 64rem)";

export class Side {
  /** @param {string} id  of the chat, as it is in an address */
  constructor(id) {
    this.id = id;
    this.panel = byId("live-side");
    this.toggle = byId("side-toggle");
    this.conversation = new Conversation(id, (step) => {
      location.assign(address(`runs/${id}#step=${encodeURIComponent(step)}`));
    });
    this.talk = new TalkBox(byId("talk-box"), id);
    this.toggle.addEventListener("click", () => this.open(this.panel.hidden, true));
    this.stops = new StopButtons(id);
  }

  /** Reads the run and shows it; returns its chat. */
  async read() {
    const run = await get(`api/v0/runs/${this.id}`);
    run.chat.rights = run.rights;
    if (this.toggle.hidden) {
      // Only now it is known that the credential covers the run.
      this.toggle.hidden = false;
      this.open(remembered() ?? matchMedia(ROOMY).matches, false);
    }
    this.stops.show(run.chat);
    await this.conversation.show(run);
    await this.talk.show(run.chat);
    return run.chat;
  }

  /**
   * @param {boolean} wanted
   * @param {boolean} chosen  by the person of this page, who is shown it so again
   */
  open(wanted, chosen) {
    this.panel.hidden = !wanted;
    this.toggle.setAttribute("aria-expanded", String(wanted));
    if (chosen) {
      remember(wanted);
    }
  }
}

function remembered() {
  try {
    const kept = localStorage.getItem(KEPT);
    return kept === null ? null : kept === "true";
  } catch {
    // Private windows may have no storage.
    return null;
  }
}

/** @param {boolean} wanted */
function remember(wanted) {
  try {
    localStorage.setItem(KEPT, String(wanted));
  } catch {
    // Then it opens as it does on a first visit.
  }
}
