// The bell: agents that need a person, with their questions, and a count in the title of the page.
import { address, get, post } from "./api.js";
import { AskedCall } from "./asked_call.js";
import { byId, element, keyed, setText, troubled } from "./dom.js";
import { showCount } from "./notices/browser_notices.js";
import { isGuest, role } from "./rights.js";
import { texts } from "./texts.js";
import { follow } from "./updates.js";
import { ago } from "./words.js";

const words = texts.talk;
/** @type {WeakMap<HTMLElement, AskedCall>} */
const questions = new WeakMap();

/** @typedef {Chat & {requires_action?: {id?: string, question: string, kind: string, asked_at: number} | null}} AskingChat */

/** @param {AskingChat} chat */
function row(chat) {
  const decide = (/** @type {string} */ text) =>
    troubled(() =>
      post(`api/v0/chats/${encodeURIComponent(chat.id)}/answer`, {
        answer: text,
        // Only where the question has an id, as the field is optional.
        ...(line.dataset.question ? { question: line.dataset.question } : {}),
      }),
    );
  const buttons = [["approve", words.approve, "primary"], ["refuse", words.refuse, "danger"]].map(([text, label, className]) => {
    const button = element("button", { type: "button", className }, label);
    button.addEventListener("click", () => decide(text));
    return button;
  });
  const box = element("input", { name: "answer", required: true, maxLength: 100000, autocomplete: "off", placeholder: words.answerHint });
  box.setAttribute("aria-label", words.yourAnswer);
  const form = element("form", { className: "bell-answer", hidden: true }, box, element("button", { className: "primary" }, words.answer));
  form.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    form.inert = true;
    await decide(box.value);
    form.inert = false;
  });
  const asked = new AskedCall([buttons[0]]);
  const line = element(
    "li",
    {},
    element("a", { className: "bell-title", href: address(`runs/${encodeURIComponent(chat.id)}`) }),
    element("span", { className: "bell-when" }),
    asked.element,
    form,
    element("div", { className: "decision" }, ...buttons),
  );
  questions.set(line, asked);
  return line;
}

/** @param {HTMLElement} line @param {AskingChat} chat */
function update(line, chat) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (line.querySelector(name));
  const question = chat.requires_action;
  const approval = question?.kind === "approval";
  line.dataset.question = question?.id || "";
  setText(part(".bell-title"), chat.title || texts.home.untitled);
  setText(part(".bell-when"), question ? ago(question.asked_at) : "");
  questions.get(line)?.show(question?.question || "", approval);
  role.then((found) => {
    // A watcher may only watch.
    part(".decision").hidden = !approval || found === "watcher";
    part(".bell-answer").hidden = !question || approval || found === "watcher";
  });
}

/** Reads the chats that wait for a person, and shows how many there are.  @returns {Promise<AskingChat[]>} */
async function readCount() {
  const { chats } = await get("api/v0/chats?state=requires_action&limit=100");
  const count = chats.length;
  const bell = byId("bell");
  bell.hidden = count === 0;
  setText(byId("bell-count"), String(count));
  bell.title = texts.bell.needPerson(count);
  return chats;
}

/** Keeps the count on a page that has no list of chats. */
export async function watchBell() {
  byId("bell").hidden = true;
  // A link to one run does not show the others.
  if (!(await isGuest)) {
    follow("chats", async () => void (await readCount().catch(() => {})));
  }
}

/** Shows the chats that wait for a person. */
export async function readBell() {
  const chats = await readCount();
  const count = chats.length;
  showCount(count);
  byId("needs").hidden = count === 0;
  keyed(byId("needs-list"), chats, (chat) => chat.id, row, update);
}
