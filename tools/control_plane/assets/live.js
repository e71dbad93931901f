// One desktop, live, with what its agent does.
import { Viewer } from "../viewer/viewer.js";
import { wishes } from "../viewer/wishes.js";
import { Refused, address, get, idFromPath } from "./api.js";
import { watchBell } from "./bell.js";
import { byId, setText } from "./dom.js";
import { Side } from "./live/side.js";
import { problemOf, showProblem } from "./problem.js";
import { coversRuns, limitLinks } from "./rights.js";
import { texts } from "./texts.js";
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

/** @type {Side | null} */
let side = null;
let name = "";

/** Shows what the agent does, if the credential covers its run. @param {Side} shown */
async function readRun(shown) {
  try {
    const chat = await shown.read();
    const last = chat.steps.at(-1);
    name = chat.title || texts.live.desktop;
    setText(byId("title"), name);
    document.title = `${name} · Deskhand`;
    setText(byId("doing"), isBusy(chat) && last ? stepTitle(last) : stateOf(chat)[0]);
    byId("run").hidden = false;
  } catch (error) {
    // A link to the desktop alone does not cover the run.
    setText(byId("doing"), error instanceof Refused && error.status === 403 ? "" : messageOf(error));
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} chatId */
function followRun(chatId) {
  const chat = encodeURIComponent(chatId);
  byId("run").href = address(`runs/${chat}`);
  const made = new Side(chat);
  side = made;
  follow(`chat:${chat}`, () => readRun(made), { streamed: (text) => made.conversation.stream(text) });
}

/** Shows the desktop as it is now: it may end, or die, while a person watches it or has control. */
async function readDesktop() {
  try {
    const desktop = await get(`api/v0/desktops/${id}`);
    if (desktop.status === "lost") {
      const run = { label: texts.live.toRun, path: `runs/${encodeURIComponent(desktop.chat_id)}` };
      showProblem("lost", desktop.chat_id ? run : undefined);
    }
    setText(byId("title"), name || desktop.name || texts.live.desktop);
    if (desktop.chat_id && !(await coversRuns)) {
      setText(byId("doing"), "");
    } else if (desktop.chat_id && !side) {
      followRun(desktop.chat_id);
    } else if (!desktop.chat_id) {
      setText(byId("doing"), texts.live.noAgent);
    }
  } catch (error) {
    if (!problemOf(error, "desktop")) {
      setText(byId("doing"), messageOf(error));
    }
  }
}

// A guest may not read the list of desktops, so the page also asks when its viewer has lost them.
follow(["desktops", `viewers:${id}`], readDesktop);
