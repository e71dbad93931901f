// The way up from a subagent's run: the chat that started it, by its title.
import { address, get } from "../../api.js";
import { byId, element } from "../../dom.js";
import { coversParent } from "../../rights.js";
import { texts } from "../../texts.js";

let shown = "";

/** @param {any} chat */
export async function showBreadcrumbs(chat) {
  const line = byId("parent");
  // A share link of the child may leave out its parent, so the link would lead to a refusal.
  if (!chat.parent_id || !(await coversParent(chat.id, chat.parent_id))) {
    line.hidden = true;
    return;
  }
  line.hidden = false;
  if (shown === chat.parent_id) {
    return;
  }
  shown = chat.parent_id;
  const link = element("a", { href: address(`runs/${encodeURIComponent(chat.parent_id)}`) }, `‹ ${texts.conversation.parent}`);
  line.replaceChildren(link);
  try {
    const parent = await get(`api/v0/chats/${encodeURIComponent(chat.parent_id)}`);
    link.textContent = `‹ ${parent.title || texts.conversation.parent}`;
    line.append(element("span", { className: "crumb" }, ` › ${chat.title || texts.conversation.run}`));
  } catch {
    // The parent is of another person, or was deleted.
    line.replaceChildren();
    line.hidden = true;
  }
}
