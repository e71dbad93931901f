// The buttons that stop a run, or begin another one like it.
import { address, post } from "../../api.js";
import { byId, setText, troubled } from "../../dom.js";
import { isAtWork } from "../../words.js";
import { StopButtons } from "./stop_buttons.js";

export class RunActions {
  /** @param {string} id  of the chat, as it is in an address */
  constructor(id) {
    this.id = id;
    this.prompt = "";
    this.stops = new StopButtons(id);
    byId("again").addEventListener("click", () => troubled(() => this.begin({})));
    byId("fork").addEventListener("click", () => this.openFork());
    const dialog = byId("fork-dialog");
    byId("fork-cancel").addEventListener("click", () => dialog.close());
    byId("fork-form").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      try {
        await this.begin({ prompt: byId("fork-prompt").value });
      } catch (/** @type {any} */ error) {
        setText(byId("fork-words"), error.message);
      }
    });
  }

  /** @param {any} chat @param {string} prompt  its first message */
  async show(chat, prompt) {
    this.prompt = prompt;
    const busy = isAtWork(chat);
    this.stops.show(chat);
    const repeats = chat.rights === "write" && !chat.parent_id && Boolean(prompt);
    byId("again").hidden = busy || !repeats;
    byId("fork").hidden = !repeats;
  }

  openFork() {
    byId("fork-prompt").value = this.prompt;
    setText(byId("fork-words"), "");
    byId("fork-dialog").showModal();
    byId("fork-prompt").focus();
  }

  /** @param {{prompt?: string}} wanted */
  async begin(wanted) {
    const chat = await post(`api/v0/chats/${this.id}/run-again`, wanted);
    location.assign(address(`runs/${encodeURIComponent(chat.id)}`));
  }
}
