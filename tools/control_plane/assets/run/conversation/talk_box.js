// The one box in which people write to an agent: a message for after its current step, an interruption,
// the answer to its question, or the decision on a call that waits for an approval.
import { address, post, serverNow } from "../../api.js";
import { AskedCall } from "../../asked_call.js";
import { element, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { duration, isAtWork } from "../../words.js";

const LONGEST = 100_000;
const words = texts.talk;
const DECISIONS = [
  { answer: "approve", label: words.approve, className: "primary" },
  { answer: "refuse", label: words.refuse, className: "danger" },
  { answer: "always", label: words.always, title: words.alwaysTitle },
];

/** @typedef {{id?: string, kind: string, question: string, picture?: string | null, deadline?: number | null}} Question */

export class TalkBox {
  /** @param {HTMLElement} host  @param {string} id  of the chat, as it is in an address */
  constructor(host, id) {
    this.host = host;
    this.id = id;
    /** @type {Question | null} */
    this.asked = null;
    this.question = this.build();
    setInterval(() => this.showLeft(), 1000);
  }

  build() {
    this.picture = element("a", { className: "shot", "aria-label": words.screenThen, hidden: true }, element("img", { alt: words.screenThen }));
    this.left = element("p", { className: "hint", role: "timer" });
    const buttons = DECISIONS.map(({ answer, label, className = "", title = "" }) => {
      const made = element("button", { type: "button", className, title }, label);
      made.addEventListener("click", () => this.sent(() => this.answer(answer), words.decided));
      return made;
    });
    const question = new AskedCall([buttons[0], buttons[2]]);
    question.sentence.id = "question";
    this.decision = element("div", { className: "decision", role: "group", "aria-label": words.decision }, ...buttons, this.left);
    this.box = element("div", { id: "question-box", className: "question", hidden: true }, element("h2", {}, words.needsPerson), question.element, this.picture, this.decision);
    this.label = element("label", { className: "unseen", htmlFor: "talk" });
    this.text = element("textarea", { id: "talk", rows: 2, maxLength: LONGEST, required: true });
    this.words = element("p", { id: "message-words", className: "hint", role: "status" });
    this.interrupt = element("button", { type: "submit", hidden: true }, words.interruptAndSend);
    this.send = element("button", { type: "submit", className: "primary", title: words.sendKeys });
    this.form = element("form", { className: "message" }, this.label, this.text, this.words, this.interrupt, this.send);
    this.form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      this.submit(event.submitter === this.interrupt);
    });
    this.text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        this.form.requestSubmit(this.send);
      }
    });
    this.host.replaceChildren(this.box, this.form);
    return question;
  }

  /** @param {any} chat */
  async show(chat) {
    const question = chat.requires_action;
    const approval = question?.kind === "approval";
    const busy = isAtWork(chat);
    this.showQuestion(question);
    setText(this.label, question ? words.yourAnswer : words.message);
    setText(this.send, question ? words.answer : words.send);
    this.text.placeholder = question
      ? words.answerHint
      : busy
        ? words.afterStepHint
        : words.newTurnHint;
    this.interrupt.hidden = !busy || Boolean(question);
    // An approval is decided by its buttons.
    this.form.hidden = approval || (!question && chat.archived) || chat.rights !== "write";
    this.decision.inert = chat.rights !== "write";
    this.host.hidden = this.form.hidden && !question;
  }

  /** Puts the cursor into the box, when it is shown. */
  focus() {
    if (!this.host.hidden && !this.form.hidden) {
      this.host.scrollIntoView({ block: "nearest" });
      this.text.focus();
    }
  }

  /** @param {Question | null} question */
  showQuestion(question) {
    this.box.hidden = !question;
    this.question.show(question?.question || "", question?.kind === "approval");
    this.decision.hidden = question?.kind !== "approval";
    this.picture.hidden = !question?.picture;
    if (question?.picture && this.asked?.picture !== question.picture) {
      this.picture.href = address(`api/v0/files/${question.picture}`);
      this.picture.querySelector("img").src = this.picture.href;
    }
    if (question?.id !== this.asked?.id) {
      setText(this.words, "");
    }
    this.asked = question || null;
    this.showLeft();
  }

  showLeft() {
    const left = this.asked?.deadline ? Math.max(0, this.asked.deadline - serverNow()) : null;
    setText(this.left, left === null ? "" : words.refusedIn(duration(Math.ceil(left))));
  }

  /** @param {boolean} interrupt */
  async submit(interrupt) {
    const text = this.text.value;
    const work = this.asked
      ? () => this.answer(text)
      : () => post(`api/v0/chats/${this.id}/messages`, interrupt ? { message: text, interrupt } : { message: text, after_step: true });
    if (await this.sent(work, words.sent)) {
      this.form.reset();
    }
    this.text.focus();
  }

  /** @param {string} text */
  answer(text) {
    const named = this.asked?.id ? { question: this.asked.id } : {};
    return post(`api/v0/chats/${this.id}/answer`, { answer: text, ...named });
  }

  /** @param {() => Promise<unknown>} work @param {string} report */
  async sent(work, report) {
    this.form.inert = true;
    this.decision.inert = true;
    let done = false;
    try {
      await work();
      done = true;
      setText(this.words, report);
    } catch (/** @type {any} */ error) {
      setText(this.words, error.message);
    }
    this.form.inert = false;
    this.decision.inert = false;
    return done;
  }
}
