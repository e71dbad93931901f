// What has ended since the last visit: a line for each run.
import { address } from "../api.js";
import { byId, element, keyed, setText } from "../dom.js";
import { serverNow } from "../server_clock.js";
import { texts } from "../texts.js";
import { ago, stateOf } from "../words.js";
import { LastVisit } from "./last_visit.js";

/** @type {LastVisit | null} */
let visit = null;
/** @type {readonly Chat[]} */
let shown = [];

/**
 * From the first call on, leaving the page ends a visit.
 *
 * @param {readonly Chat[]} chats @param {string} person  its id; empty for the only owner
 */
export function showEnded(chats, person) {
  visit ??= new LastVisit(localStorage, person);
  shown = chats;
  draw(visit);
}

/** @param {LastVisit} from */
function draw(from) {
  const ended = from.ended(shown);
  byId("ended-section").hidden = ended.length === 0;
  keyed(byId("ended"), ended, ({ id }) => id, line, update);
}

/** @param {Chat} chat */
function line(chat) {
  return element(
    "li",
    {},
    element("span", { className: "badge" }),
    element("a", { href: address(`runs/${encodeURIComponent(chat.id)}`) }),
    element("span", { className: "card-when" }),
  );
}

/** @param {HTMLElement} made @param {Chat} chat */
function update(made, chat) {
  const [badge, link, when] = /** @type {HTMLElement[]} */ ([...made.children]);
  const [word, tone] = stateOf(chat);
  setText(badge, word);
  badge.dataset.tone = tone;
  setText(link, chat.title || texts.home.untitled);
  setText(when, ago(chat.ended_at ?? chat.updated_at));
}

byId("ended-seen").addEventListener("click", () => {
  if (visit) {
    visit.seen(serverNow());
    draw(visit);
  }
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    visit?.left(serverNow());
  } else {
    visit?.back(serverNow());
  }
});
addEventListener("pagehide", () => visit?.left(serverNow()));
