// @ts-nocheck
// The bell: agents that need a person, with their questions, and a count in the title of the page.
import { address, get, post } from "./api.js";
import { byId, element, keyed, setText, troubled } from "./dom.js";
import { showCount } from "./notices/browser_notices.js";
import { follow } from "./updates.js";
import { ago } from "./words.js";

const FORBIDDEN = 403;

function row(chat) {
  const decide = (text) =>
    troubled(() =>
      post(`api/v0/chats/${encodeURIComponent(chat.id)}/answer`, {
        answer: text,
        question: line.dataset.question,
      }),
    );
  const buttons = [["approve", "Approve", "primary"], ["refuse", "Refuse", "danger"]].map(([text, label, className]) => {
    const button = element("button", { type: "button", className }, label);
    button.addEventListener("click", () => decide(text));
    return button;
  });
  const line = element(
    "li",
    {},
    element("a", { className: "bell-title", href: address(`runs/${encodeURIComponent(chat.id)}`) }),
    element("span", { className: "bell-when" }),
    element("p", { className: "bell-words" }),
    element("div", { className: "decision" }, ...buttons),
  );
  return line;
}

function update(line, chat) {
  const question = chat.requires_action;
  line.dataset.question = question?.id || "";
  setText(line.querySelector(".bell-title"), chat.title || "Untitled");
  setText(line.querySelector(".bell-when"), question ? ago(question.asked_at) : "");
  setText(line.querySelector(".bell-words"), question?.question || "");
  line.querySelector(".decision").hidden = question?.kind !== "approval";
}

/** Reads the chats that wait for a person, and shows how many there are. */
async function readCount() {
  const { chats } = await get("api/v0/chats?state=requires_action&limit=100");
  const count = chats.length;
  const bell = byId("bell");
  bell.hidden = count === 0;
  setText(byId("bell-count"), String(count));
  bell.title = count === 1 ? "1 agent needs a person" : `${count} agents need a person`;
  return chats;
}

/** Keeps the count on a page that has no list of chats. */
export async function watchBell() {
  try {
    await readCount();
  } catch (error) {
    byId("bell").hidden = true;
    // A link to one run does not show the others.
    if (error.status === FORBIDDEN) {
      return;
    }
  }
  follow("chats", () => readCount().catch(() => {}));
}

/** Shows the chats that wait for a person. */
export async function readBell() {
  const chats = await readCount();
  const count = chats.length;
  showCount(count);
  byId("needs").hidden = count === 0;
  keyed(byId("needs-list"), chats, (chat) => chat.id, row, update);
}
