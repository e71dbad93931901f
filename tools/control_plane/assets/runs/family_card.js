// The card of a run with a box that selects it, and its subagents, which are shown on request.
import { address, get } from "../api.js";
import { runCard, updateRunCard } from "../cards.js";
import { element, keyed, setText, troubled } from "../dom.js";
import { texts } from "../texts.js";
import { stateOf } from "../words.js";

const words = texts.runs;

/** @typedef {import("./selection.js").RunSelection} RunSelection */

/** @param {Chat} chat @param {RunSelection} selection */
export function familyCard(chat, selection) {
  const card = runCard(chat);
  const box = element("input", { type: "checkbox", className: "run-select" });
  box.addEventListener("change", () => selection.set(chat.id, box.checked));
  const toggle = element("button", { type: "button", className: "run-family", "aria-expanded": "false", hidden: true });
  const below = element("ul", { className: "run-children", hidden: true });
  toggle.addEventListener("click", () =>
    troubled(async () => {
      const open = below.hidden;
      if (open) {
        const { chats } = await get(`api/v0/chats?${new URLSearchParams({ parent: chat.id, limit: "100" })}`);
        keyed(below, chats, (/** @type {Chat} */ one) => one.id, child, () => {});
      }
      below.hidden = !open;
      toggle.setAttribute("aria-expanded", String(open));
    }),
  );
  card.append(box, toggle, below);
  return card;
}

/** @param {Chat} chat */
function child(chat) {
  const [word] = stateOf(chat);
  const link = element("a", { href: address(`runs/${encodeURIComponent(chat.id)}`) }, chat.title || words.untitled);
  return element("li", {}, link, ` ${word}`);
}

/** @param {any} card @param {Chat} chat @param {RunSelection} selection */
export function updateFamilyCard(card, chat, selection) {
  updateRunCard(card, chat);
  const box = card.querySelector(".run-select");
  box.checked = selection.has(chat.id);
  box.setAttribute("aria-label", words.select(chat.title || words.untitled));
  const count = chat.children?.length ?? 0;
  const toggle = card.querySelector(".run-family");
  toggle.hidden = count === 0;
  setText(toggle, words.agents(count));
}
