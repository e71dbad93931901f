// A run as a card: thumbnail, title, state, length.
import { address } from "./api.js";
import { element, setText } from "./dom.js";
import { texts } from "./texts.js";
import { ago, duration, isBusy, stateOf, took } from "./words.js";

/** @param {Chat} chat */
export function runCard(chat) {
  return element(
    "li",
    { className: "card" },
    element(
      "a",
      { href: address(`runs/${encodeURIComponent(chat.id)}`) },
      element(
        "span",
        { className: "shot" },
        element("img", { alt: "", loading: "lazy", decoding: "async", hidden: true }),
        element("span", { className: "length", hidden: true }),
      ),
      element("span", { className: "card-title" }),
      element(
        "span",
        { className: "card-line" },
        element("span", { className: "badge" }),
        element("span", { className: "card-when" }),
      ),
    ),
  );
}

/**
 * @param {any} card
 * @param {Chat} chat
 * @param {number | null} [videoSeconds]
 */
export function updateRunCard(card, chat, videoSeconds) {
  const image = card.querySelector("img");
  const wanted = chat.thumbnail_file_id ? address(`api/v0/files/${chat.thumbnail_file_id}`) : "";
  if (image.getAttribute("src") !== wanted && wanted) {
    image.src = wanted;
  }
  image.hidden = !wanted;
  const length = card.querySelector(".length");
  length.hidden = videoSeconds === null || videoSeconds === undefined;
  setText(length, `▶ ${duration(videoSeconds)}`);
  setText(card.querySelector(".card-title"), chat.title || texts.chat.untitled);
  const [word, tone] = stateOf(chat);
  const badge = card.querySelector(".badge");
  setText(badge, word);
  badge.dataset.tone = tone;
  const steps = texts.amounts.steps(chat.step_count ?? 0);
  const when = isBusy(chat) ? texts.chat.since(took(chat)) : ago(chat.updated_at);
  setText(card.querySelector(".card-when"), [steps, took(chat) && !isBusy(chat) ? took(chat) : null, when]
    .filter(Boolean)
    .join(" · "));
}
