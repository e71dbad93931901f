// @ts-nocheck
// One desktop, live, with what its agent does.
import { Viewer } from "../viewer/viewer.js";
import { wishes } from "../viewer/wishes.js";
import { address, get, idFromPath } from "./api.js";
import { watchBell } from "./bell.js";
import { byId, setText } from "./dom.js";
import { problemOf, showProblem } from "./problem.js";
import { limitLinks } from "./rights.js";
import { follow } from "./updates.js";
import { isBusy, stateOf, stepTitle } from "./words.js";

const id = encodeURIComponent(idFromPath());
const below = `api/v0/desktops/${id}/desktop`;

const wished = wishes(location.search);
document.body.dataset.bare = String(wished.bare);
const addresses = { stream: address(`${below}/vnc`), status: address(below), login: address("login") };
new Viewer(byId("viewer"), addresses, wished).connect();

watchBell();
limitLinks();

async function readChat(chatId) {
  try {
    const chat = await get(`api/v0/chats/${encodeURIComponent(chatId)}`);
    const last = chat.steps.at(-1);
    setText(byId("title"), chat.title || "Desktop");
    document.title = `${chat.title || "Desktop"} · Deskhand`;
    const doing = isBusy(chat) && last ? stepTitle(last) : stateOf(chat)[0];
    setText(byId("doing"), doing);
    // Only now it is known that the credential covers the run.
    byId("run").hidden = false;
  } catch (error) {
    setText(byId("doing"), error.message);
  }
}

try {
  const desktop = await get(`api/v0/desktops/${id}`);
  if (desktop.status === "lost") {
    showProblem("lost", desktop.chat_id && { label: "Go to its run", path: `runs/${encodeURIComponent(desktop.chat_id)}` });
  }
  setText(byId("title"), desktop.name || "Desktop");
  if (desktop.chat_id) {
    const chat = encodeURIComponent(desktop.chat_id);
    const link = byId("run");
    link.href = address(`runs/${chat}`);
    follow(`chat:${chat}`, () => readChat(desktop.chat_id));
  } else {
    setText(byId("doing"), "No agent works here");
  }
} catch (error) {
  if (!problemOf(error, "desktop")) {
    setText(byId("doing"), error.message);
  }
}
