// @ts-nocheck
// The wall: live desktops, recent runs, and a box to start a task.
import { address, get, post } from "./api.js";
import { readBell } from "./bell.js";
import { runCard, updateRunCard } from "./cards.js";
import { byId, element, keyed, setText, troubled } from "./dom.js";
import { showDesktops } from "./home/desktops.js";
import { hasWorked } from "./home/order.js";
import { StartForm } from "./home/start.js";
import { BrowserNotices } from "./notices/browser_notices.js";
import { role } from "./rights.js";
import { follow } from "./updates.js";
import { ago, isAtWork } from "./words.js";

const SHOWN = 24;

const notices = new BrowserNotices();
const start = new StartForm(() => again());

async function read() {
  await troubled(async () => {
    const [desktops, listed, recorded] = await Promise.all([
      get("api/v0/desktops"),
      get("api/v0/chats?limit=100"),
      get(`api/v0/recordings?limit=${SHOWN}`),
    ]);
    const chats = new Map(listed.chats.map((chat) => [chat.id, chat]));
    showDesktops(desktops.desktops, chats);
    start.show(desktops.desktops, listed.chats);

    const lengths = new Map(recorded.recordings.map((r) => [r.chat_id, r.video_s]));
    const runs = listed.chats.filter(hasWorked).slice(0, SHOWN);
    keyed(byId("runs"), runs, (chat) => chat.id, runCard, (card, chat) =>
      updateRunCard(card, chat, lengths.get(chat.id)),
    );
    byId("runs-none").hidden = runs.length > 0;
    byId("stop-all").hidden = (await role) !== "owner" || !listed.chats.some(isAtWork);
    notices.update(listed.chats);
    await readBell();
  });
}

// A person has to know where values may go that no domain protects.
function secretText(secret) {
  if (secret.state === "needs_domains") {
    return ["Not typed: store it again with its domains", true];
  }
  return secret.anywhere ? ["May be typed anywhere", true] : [secret.domains.join(", "), false];
}

function secretLine() {
  return element("li", {}, element("strong", {}), " ", element("span", { className: "secret-where" }));
}

function updateSecretLine(line, secret) {
  setText(line.querySelector("strong"), secret.name);
  const where = line.querySelector(".secret-where");
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
  keyed(byId("secrets"), listed.secrets, (s) => s.name, secretLine, updateSecretLine);
  keyed(
    byId("notices"),
    probed.records,
    (r) => `${r.writer}-${r.n}`,
    () => element("li", { className: "unsafe" }),
    (line, r) =>
      setText(
        line,
        `The secret ${r.subject} was masked often in the results of ${r.actor.replace(":", " ")}, ${ago(r.at)}: ` +
          "programs there may be guessing its value.",
      ),
  );
}

function diskText(disk) {
  const [free, needed] = [disk.free_bytes, disk.needed_bytes].map((bytes) => Math.round(bytes / 2 ** 20));
  const used = disk.reserve === "released" ? " What runs is finished on reserved space." : "";
  return `The disk is almost full: ${free} MiB free, ${needed} MiB are needed. No recording starts, and no files are taken.${used}`;
}

// Of the control plane; the cards of desktops name what these lack.
function protectionText({ name, state, because, remedy }) {
  return `${name}: ${state}, because ${because}. ${remedy ? `Remedy: ${remedy}.` : ""}`;
}

async function readStatus() {
  // Others than owners get the version only.
  if ((await role) !== "owner") {
    return;
  }
  await troubled(async () => {
    const status = await get("api/v0/status");
    byId("model").replaceChildren("Model: ", element("strong", {}, status.model || "none"));
    byId("key-hint").hidden = Boolean(status.key_set);
    byId("disk-low").hidden = !status.disk.low;
    setText(byId("disk-low"), diskText(status.disk));
    const missing = status.protections.filter((one) => one.because);
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

byId("start-desktop").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  button.disabled = true;
  button.textContent = "Starting …";
  await troubled(() => post("api/v0/desktops"));
  button.textContent = "Start a desktop";
  button.disabled = false;
  again();
});

byId("stop-all").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  button.disabled = true;
  await troubled(() => post("api/v0/stop-all"));
  button.disabled = false;
  again();
});

byId("leave").addEventListener("click", async () => {
  await troubled(async () => {
    await post("logout");
    location.assign(address("login"));
  });
});

const TOPICS = ["chats", "desktops"];
// What seldom changes, and is in no event.
const FACTS_PAUSE = 10_000;
const again = follow(TOPICS, read);

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
