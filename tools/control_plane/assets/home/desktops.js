// The desktops as cards: those that are used, and those whose agent has ended.
import { address, remove } from "../api.js";
import { byId, element, keyed, setText, troubled } from "../dom.js";
import { role } from "../rights.js";
import { watchShot } from "../shots.js";
import { texts } from "../texts.js";
import { subscribe } from "../updates.js";
import { ago, isAtWork, isBusy, stateOf, stepTitle } from "../words.js";
import { presenceOf } from "./presence.js";

const words = texts.home;
/** The end of each subscription to who watches a desktop, by the card that shows it.
 *  @type {Map<HTMLElement, () => void>} */
const presences = new Map();

/** @typedef {{mode: string, allow: string[], grants: string[]}} Egress */
/**
 * @typedef {{
 *   id: string, name: string, status: string, chat_id: string | null, created_at: number, has_display: boolean,
 *   level: string, browser_warning: string, missing_protections: string[], egress: Egress | null,
 * }} Desktop
 */

/** @type {[string, Tone]} */
const IDLE = [words.idle, "quiet"];
/** @type {Record<string, [string, Tone]>} */
const WORDS = { starting: [words.states.starting, "busy"], ready: [words.states.ready, "good"], lost: [words.states.lost, "bad"] };

/**
 * @param {Desktop[]} desktops
 * @param {Map<string, Chat>} chats
 */
export function showDesktops(desktops, chats) {
  const isIdle = (/** @type {Desktop} */ desktop) => {
    const chat = desktop.chat_id === null ? undefined : chats.get(desktop.chat_id);
    return desktop.status === "ready" && Boolean(chat) && !isAtWork(/** @type {Chat} */ (chat));
  };
  const idle = desktops.filter(isIdle);
  const used = desktops.filter((desktop) => !isIdle(desktop));
  for (const [list, shown] of /** @type {[HTMLElement, Desktop[]][]} */ ([
    [byId("desktops"), used],
    [byId("idle-desktops"), idle],
  ])) {
    keyed(list, shown, (desktop) => desktop.id, card, (made, desktop) => update(made, desktop, chats, list.id === "idle-desktops"));
  }
  for (const [made, end] of presences) {
    if (!made.isConnected) {
      end();
      presences.delete(made);
    }
  }
  byId("desktops-none").hidden = used.length > 0;
  byId("idle-section").hidden = idle.length === 0;
}

/** @param {Desktop} desktop */
function card(desktop) {
  const end = element("button", { type: "button", className: "danger card-act", hidden: true }, words.endDesktop);
  end.addEventListener("click", () => troubled(() => remove(`api/v0/desktops/${encodeURIComponent(desktop.id)}`)));
  return element(
    "li",
    { className: "card" },
    element(
      "a",
      { href: address(`desktops/${encodeURIComponent(desktop.id)}`) },
      element("span", { className: "shot" }, element("img", { alt: "", hidden: true, decoding: "async" })),
      element("span", { className: "card-title" }),
      element("span", { className: "card-doing" }),
      element("span", { className: "card-line" }, element("span", { className: "badge" }), element("span", { className: "card-when" })),
    ),
    element("p", { className: "card-who", hidden: true }),
    element("p", { className: "card-warning", hidden: true }),
    end,
  );
}

/**
 * @param {HTMLElement} made
 * @param {Desktop} desktop
 * @param {Map<string, Chat>} chats
 * @param {boolean} idle
 */
function update(made, desktop, chats, idle) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (made.querySelector(name));
  const chat = desktop.chat_id === null ? undefined : chats.get(desktop.chat_id);
  setText(part(".card-title"), chat?.title || desktop.name || words.unnamed);
  const [word, tone] = idle ? IDLE : WORDS[desktop.status] || [desktop.status, "quiet"];
  setText(part(".badge"), word);
  part(".badge").dataset.tone = tone;
  setText(part(".card-doing"), chat ? doingOf(chat) : words.noAgent);
  setText(part(".card-when"), words.started(ago(desktop.created_at)));
  if (desktop.status === "ready" && !presences.has(made)) {
    presences.set(made, subscribe(`viewers:${desktop.id}`, { event: ({ kind, data }) => showPresence(part(".card-who"), kind === "state" ? data : {}) }));
  }
  // A screenshot of a desktop without a display would start its display.
  if (desktop.has_display && !made.dataset.watched) {
    made.dataset.watched = "true";
    watchShot(part(".shot"), /** @type {HTMLImageElement} */ (part("img")), desktop.id);
  }
  const warnings = warningsOf(desktop);
  setText(part(".card-warning"), warnings.join(" · "));
  part(".card-warning").hidden = !warnings.length;
  role.then((found) => {
    part(".card-act").hidden = !idle || found !== "owner";
  });
}

/** @param {HTMLElement} line @param {import("./presence.js").Lease} lease */
function showPresence(line, lease) {
  const shown = presenceOf(lease);
  setText(line, shown.join(" · "));
  line.hidden = !shown.length;
}

/** The newest step while it works, else what came of it.  @param {Chat} chat */
function doingOf(chat) {
  return isBusy(chat) && chat.last_step ? stepTitle(chat.last_step) : stateOf(chat)[0];
}

/** @param {Desktop} desktop */
function warningsOf(desktop) {
  // Desktops of other levels lack all protections: that is described once, in the documentation.
  const missing = desktop.level === "user" ? desktop.missing_protections : [];
  return [desktop.browser_warning, ...missing, egressOf(desktop)].filter(Boolean);
}

/** @param {Desktop} desktop */
function egressOf({ egress }) {
  // An egress that is open against the default is among the missing protections.
  if (!egress || egress.mode === "open") {
    return "";
  }
  const names = [...egress.allow, ...egress.grants.map(words.granted)];
  return [words.egress(egress.mode), ...names].join(", ");
}
