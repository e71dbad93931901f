// What an agent asks a person: the sentence, and the whole call that an approval is about. A long
// call is cut off until the person opens it, and cannot be approved before.
import { element, setText } from "./dom.js";
import { texts } from "./texts.js";

const words = texts.talk;

export class AskedCall {
  /** @param {HTMLButtonElement[]} approving  are disabled while a part of the call was never shown */
  constructor(approving) {
    /** Each with the title that it has while it can be pressed. */
    this.approving = approving.map((button) => ({ button, title: button.title }));
    this.text = "";
    this.opened = false;
    this.sentence = element("p", { className: "words" });
    this.call = element("pre", { className: "call", tabIndex: -1, "aria-label": words.call });
    this.more = element("button", { type: "button", className: "open-call" });
    this.more.addEventListener("click", () => this.open());
    this.element = element("div", { className: "asked" }, this.sentence, this.call, this.more);
    // It has no height yet, or another one when the window is wider.
    new ResizeObserver(() => this.measure()).observe(this.call);
  }

  /** @param {string} text  @param {boolean} approval */
  show(text, approval) {
    if (text !== this.text) {
      this.text = text;
      this.opened = false;
    }
    const end = approval ? text.indexOf("\n\n") : -1;
    const call = end < 0 ? "" : text.slice(end + 2);
    setText(this.sentence, end < 0 ? text : text.slice(0, end));
    setText(this.call, call);
    setText(this.more, words.showCall(call.length));
    this.call.hidden = !call;
    this.measure();
  }

  open() {
    this.opened = true;
    this.measure();
    this.call.focus();
  }

  measure() {
    this.call.classList.toggle("whole", this.opened);
    const { scrollHeight, clientHeight, hidden } = this.call;
    const cut = !hidden && !this.opened && (clientHeight === 0 || scrollHeight > clientHeight + 1);
    this.more.hidden = !cut;
    this.call.classList.toggle("cut", cut);
    for (const { button, title } of this.approving) {
      button.disabled = cut;
      button.title = cut ? words.openFirst : title;
    }
  }
}
