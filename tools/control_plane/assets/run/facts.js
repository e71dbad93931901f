// The head of a run's page: its title, its state, its figures, and where to see it live.
import { address } from "../api.js";
import { byId, element, setText } from "../dom.js";
import { texts } from "../texts.js";
import { ago, dollars, duration, isAtWork, isBusy, size, stateOf, timesOf, tokensOf, took } from "../words.js";

/** Shows `text` at `place`, and hides the whole box without it.
 *  @param {string} box @param {string} place @param {string | null | undefined} text */
export function showWords(box, place, text) {
  byId(box).hidden = !text;
  setText(byId(place), text || "");
}

/** @param {Chat} chat */
function howLong(chat) {
  if (!isBusy(chat)) {
    return texts.facts.took;
  }
  return chat.state === "queued" ? texts.facts.waitingFor : texts.facts.workingFor;
}

/** @param {RunChat} chat @param {RunPart[]} recordings @param {string} owner */
function showFigures(chat, recordings, owner) {
  const [word, tone] = stateOf(chat);
  const badge = element("span", { className: "badge" }, word);
  badge.dataset.tone = tone;
  const bytes = recordings.reduce((sum, each) => sum + each.bytes, 0);
  const video = recordings.reduce((sum, each) => sum + (each.video_s || 0), 0);
  const facts = [
    texts.amounts.steps(chat.steps.length),
    took(chat) && `${howLong(chat)} ${took(chat)}`,
    video ? texts.facts.video([duration(video), bytes ? size(bytes) : ""].filter(Boolean).join(", ")) : null,
    owner && texts.facts.by(owner),
    chat.model,
    chat.usage ? tokensOf(chat.usage) : null,
    chat.usage?.cost_usd ? dollars(chat.usage.cost_usd) : null,
    ...(chat.times ? timesOf(chat.times) : []),
    chat.waiting_for?.text,
    chat.status_message && `“${chat.status_message.text}”`,
    ago(chat.created_at),
  ];
  byId("facts").replaceChildren(badge, ` ${facts.filter(Boolean).join(" · ")}`);
}

/** The control plane keeps a hash of the last step of each turn.  @param {number[]} turns */
function showChanged(turns) {
  const words = byId("changed");
  words.hidden = turns.length === 0;
  setText(words, texts.facts.changed(turns));
}

/** @param {Run} run */
export function showFacts({ chat, recordings, owner, changed_turns: changed }) {
  showChanged(changed);
  document.title = `${chat.title || texts.facts.run} · Deskhand`;
  setText(byId("title"), chat.title || texts.facts.run);
  showFigures(chat, recordings, owner);
  showWords("report-box", "report", chat.report || chat.last_error);
  const busy = isAtWork(chat);
  const live = byId("live");
  live.hidden = !(busy && chat.desktop_id);
  live.href = address(`desktops/${encodeURIComponent(chat.desktop_id || "")}`);
}
