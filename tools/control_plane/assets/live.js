// @ts-nocheck
// One desktop, live, with what its agent does.
import { Viewer } from "../viewer/viewer.js";
import { wishes } from "../viewer/wishes.js";
import { address, get, idFromPath } from "./api.js";
import { watchBell } from "./bell.js";
import { byId, setText } from "./dom.js";
import { Side } from "./live/side.js";
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

/** Shows what the agent does, if the credential covers its run. */
async function readRun(side) {
  try {
    const chat = await side.read();
    const last = chat.steps.at(-1);
    setText(byId("title"), chat.title || "Desktop");
    document.title = `${chat.title || "Desktop"} · Deskhand`;
    setText(byId("doing"), isBusy(chat) && last ? stepTitle(last) : stateOf(chat)[0]);
    byId("run").hidden = false;
  } catch (error) {
    // A link to the desktop alone does not cover the run.
    setText(byId("doing"), error.status === 403 ? "" : error.message);
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
    const side = new Side(chat);
    follow(`chat:${chat}`, () => readRun(side), { streamed: (text) => side.conversation.stream(text) });
  } else {
    setText(byId("doing"), "No agent works here");
  }
} catch (error) {
  if (!problemOf(error, "desktop")) {
    setText(byId("doing"), error.message);
  }
}
