// The wall: live desktops, recent runs, and a box to start a task.
import { address, get, post } from "./api.js";
import { readBell } from "./bell.js";
import { runCard, updateRunCard } from "./cards.js";
import { byId, element, keyed, setText, troubled } from "./dom.js";
import { showDesktops } from "./home/desktops.js";
import { showEnded } from "./home/ended.js";
import { chatsAfter } from "./home/known_chats.js";
import { hasWorked } from "./home/order.js";
import { StartForm } from "./home/start.js";
import { BrowserNotices } from "./notices/browser_notices.js";
import { person, role } from "./rights.js";
import { texts } from "./texts.js";
import { follow } from "./updates.js";
import { ago, isAtWork } from "./words.js";

/** @typedef {{name: string, kind: string, state: string, anywhere: boolean, any_field: boolean, domains: string[]}} Secret */
/** @typedef {{writer: string, n: number, subject: string, actor: string, at: number}} AuditRecord */
/** @typedef {{name: string, state: string, because: string, remedy: string}} Protection */
/** @typedef {{free_bytes: number, needed_bytes: number, reserve: string}} Disk */

const SHOWN = 24;
const words = texts.home;

const notices = new BrowserNotices();
const start = new StartForm(() => again());

/** @typedef {{desktops: import("./home/desktops.js").Desktop[], chats: readonly Chat[], lengths: Map<string, number>}} Known */

/** What was read last. @type {Known | null} */
let known = null;

/** @param {Known} read */
function show({ desktops, chats, lengths }) {
  showDesktops(desktops, new Map(chats.map((chat) => [chat.id, chat])));
  const runs = chats.filter(hasWorked).slice(0, SHOWN);
  keyed(byId("runs"), runs, (chat) => chat.id, runCard, (card, chat) =>
    updateRunCard(card, chat, lengths.get(chat.id)),
  );
  byId("runs-none").hidden = runs.length > 0;
}

/**
 * Reading takes long where many tabs do it at the same time, so what an event says is shown at once.
 *
 * @param {import("./subscriptions.js").Message} event
 */
function happened(event) {
  const chats = known ? chatsAfter(known.chats, event) : [];
  if (known && chats !== known.chats) {
    known = { ...known, chats };
    show(known);
  }
}

async function read() {
  await troubled(async () => {
    const [desktops, listed, recorded, id] = await Promise.all([
      get("api/v0/desktops"),
      get("api/v0/chats?limit=100"),
      get(`api/v0/recordings?limit=${SHOWN}`),
      person,
    ]);
    const lengths = new Map(recorded.recordings.map((/** @type {{chat_id: string, video_s: number}} */ one) => [one.chat_id, one.video_s]));
    known = { desktops: desktops.desktops, chats: listed.chats, lengths };
    show(known);
    // Without a wait in between: one who leaves has seen either nothing or both.
    showEnded(listed.chats, id);
    start.show(desktops.desktops, listed.chats);
    byId("stop-all").hidden = (await role) !== "owner" || !listed.chats.some(isAtWork);
    notices.update(listed.chats);
    await readBell();
  });
}

// A person has to know where values may go that no domain protects.
/** @param {Secret} secret @returns {[string, boolean]} */
function secretText(secret) {
  if (secret.state === "needs_domains") {
    return [words.needsDomains, true];
  }
  if (secret.anywhere) {
    return [words.anywhere, true];
  }
  const domains = secret.domains.join(", ");
  return secret.any_field ? [words.anyField(domains), true] : [domains, false];
}

function secretLine() {
  return element("li", {}, element("strong", {}), " ", element("span", { className: "secret-where" }));
}

/** @param {HTMLElement} line @param {Secret} secret */
function updateSecretLine(line, secret) {
  const [name, where] = /** @type {HTMLElement[]} */ ([...line.children]);
  setText(name, secret.kind === "totp" ? words.oneTimeCode(secret.name) : secret.name);
  const [text, isUnsafe] = secretText(secret);
  setText(where, text);
  where.classList.toggle("unsafe", isUnsafe);
}

async function readSecrets() {
  if ((await role) !== "owner") {
    return;
  }
  let listed, probed;
  try {
    [listed, probed] = await Promise.all([
      get("api/v0/secrets"),
      get("api/v0/audit?action=secret.masked_often&limit=5"),
    ]);
  } catch {
    // The lists above report that the control plane does not answer.
    return;
  }
  byId("secrets-section").hidden = !listed.secrets.length && !probed.records.length;
  keyed(byId("secrets"), /** @type {Secret[]} */ (listed.secrets), ({ name }) => name, secretLine, updateSecretLine);
  keyed(
    byId("notices"),
    /** @type {AuditRecord[]} */ (probed.records),
    ({ writer, n }) => `${writer}-${n}`,
    () => element("li", { className: "unsafe" }),
    (line, { subject, actor, at }) => setText(line, words.guessed(subject, actor.replace(":", " "), ago(at))),
  );
}

/** @param {Disk} disk */
function diskText(disk) {
  const [free, needed] = [disk.free_bytes, disk.needed_bytes].map((bytes) => Math.round(bytes / 2 ** 20));
  return words.diskLow(free, needed) + (disk.reserve === "released" ? words.diskReserve : "");
}

// Of the control plane; the cards of desktops name what these lack.
/** @param {Protection} one */
const protectionText = ({ name, state, because, remedy }) => words.protection(name, state, because, remedy);

async function readStatus() {
  // Others than owners get the version only.
  if ((await role) !== "owner") {
    return;
  }
  await troubled(async () => {
    const status = await get("api/v0/status");
    byId("model").replaceChildren(words.model, element("strong", {}, status.model || words.noModel));
    byId("key-hint").hidden = Boolean(status.key_set);
    byId("disk-low").hidden = !status.disk.low;
    setText(byId("disk-low"), diskText(status.disk));
    const missing = /** @type {Protection[]} */ (status.protections).filter((one) => one.because);
    byId("unprotected").hidden = !missing.length;
    keyed(
      byId("unprotected"),
      missing,
      (one) => one.name,
      () => element("li", { className: "lacking" }),
      (line, one) => setText(line, protectionText(one)),
    );
  });
}

role.then((found) => {
  byId("task").closest("section").hidden = found === "watcher";
  byId("start-desktop").hidden = found !== "owner";
  byId("system-link").hidden = found !== "owner";
});

byId("start-desktop").addEventListener("click", async (/** @type {any} */ { currentTarget: button }) => {
  button.disabled = true;
  button.textContent = words.starting;
  await troubled(() => post("api/v0/desktops"));
  button.textContent = words.startDesktop;
  button.disabled = false;
  again();
});

byId("stop-all").addEventListener("click", async (/** @type {any} */ { currentTarget: button }) => {
  button.disabled = true;
  await troubled(() => post("api/v0/stop-all"));
  button.disabled = false;
  again();
});

for (const id of ["describe-task", "describe-first"]) {
  byId(id).addEventListener("click", () => byId("prompt").focus());
  // A watcher starts no tasks.
  role.then((found) => {
    byId(id).hidden = found === "watcher";
  });
}

byId("leave").addEventListener("click", async () => {
  await troubled(async () => {
    await post("logout");
    location.assign(address("login"));
  });
});

const TOPICS = ["chats", "desktops"];
// What seldom changes, and is in no event.
const FACTS_PAUSE = 10_000;
const again = follow(TOPICS, read, { happened });

async function readModels() {
  try {
    start.showModels(await get("api/v0/models"));
  } catch {
    // The lists above report that the control plane does not answer; a watcher starts no tasks.
  }
}

const readFacts = follow(TOPICS, async () => void (await Promise.all([readStatus(), readSecrets(), readModels()])), {
  pause: FACTS_PAUSE,
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    again();
    readFacts();
  }
});
