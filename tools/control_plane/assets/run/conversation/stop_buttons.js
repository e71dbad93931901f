// The two buttons that stop a turn: at once, or after the step that runs.
import { post } from "../../api.js";
import { byId, setText, troubled } from "../../dom.js";
import { texts } from "../../texts.js";
import { isAtWork } from "../../words.js";

const words = texts.talk;

export class StopButtons {
  /** @param {string} id  of the chat, as it is in an address */
  constructor(id) {
    this.stop = byId("stop");
    this.after = byId("stop-after");
    const path = `api/v0/chats/${id}/interrupt`;
    this.stop.addEventListener("click", () => troubled(() => post(path)));
    this.after.addEventListener("click", () =>
      troubled(async () => {
        await post(path, { after_step: true });
        setText(this.after, words.stopsAfterStep);
        this.after.disabled = true;
      }),
    );
  }

  /** @param {Pick<Chat, "state"> & {rights?: string}} chat */
  show(chat) {
    const may = chat.rights !== "read";
    this.stop.hidden = !may || !isAtWork(chat);
    this.after.hidden = !may || chat.state !== "running";
    if (chat.state !== "running") {
      setText(this.after, words.stopAfterStep);
      this.after.disabled = false;
    }
  }
}
