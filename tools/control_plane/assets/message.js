// @ts-nocheck
// The box that sends a message to the agent of a run.
import { post } from "./api.js";
import { byId, setText } from "./dom.js";
import { isAdministrator } from "./rights.js";
import { isAtWork } from "./words.js";

/** @param id of the chat, as it is in an address  @return shows the box for a chat */
export function messageBox(id) {
  const form = byId("message-form");
  const words = byId("message-words");

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const interrupt = event.submitter === byId("message-interrupt");
    form.inert = true;
    try {
      await post(`api/v0/chats/${id}/messages`, { message: form.message.value, interrupt });
      form.reset();
      setText(words, "Sent.");
    } catch (error) {
      setText(words, error.message);
    }
    form.inert = false;
    form.message.focus();
  });

  form.message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      form.requestSubmit(byId("message-send"));
    }
  });

  return async (chat) => {
    const busy = isAtWork(chat);
    byId("message-interrupt").hidden = !busy;
    form.message.placeholder = busy
      ? "The agent reads it after its current step"
      : "Begins another turn of the same agent";
    // A question is answered in its own box.
    byId("message-box").hidden = !(await isAdministrator) || chat.archived || Boolean(chat.requires_action);
  };
}
