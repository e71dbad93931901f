// One step in full: what the agent wrote and thought before it, its arguments, what it returned, the
// screen before and after it, its times and tokens, and links to its moment and its files.
import { address, get } from "../../api.js";
import { byId, element, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { clock, duration, milliseconds, stepTitle } from "../../words.js";
import { exchangeOf } from "./exchange.js";
import { longText } from "./long_text.js";
import { OutputView } from "./output_view.js";
import { pathsOf, stagesOf, tokensOfStep } from "./step_facts.js";
import { stepPictures } from "./step_pictures.js";

/** @typedef {import("./step_facts.js").Step} Step */

const words = texts.step;

/** @param {string} title @param {string} text */
function collapsed(title, text) {
  return text ? element("details", { className: "thinking" }, element("summary", {}, title), element("p", { className: "words" }, text)) : null;
}

/** @param {string} label @param {string | null | undefined} text @param {string} [tone] */
function output(label, text, tone) {
  return text ? new OutputView(label, text, tone).element : null;
}

/** @param {Step} step */
function stagesBar(step) {
  const stages = stagesOf(step);
  if (!stages.length) {
    return null;
  }
  const bar = element("div", { className: "stages", "aria-hidden": "true" });
  const legend = element("ul", { className: "stages-legend" });
  for (const { name, ms, share } of stages) {
    const part = element("span", { "data-stage": name });
    part.style.width = `${share}%`;
    bar.append(part);
    legend.append(element("li", { "data-stage": name }, `${words.stages[/** @type {keyof typeof words.stages} */ (name)]} ${milliseconds(ms)}`));
  }
  return element("div", { className: "step-times" }, element("h3", {}, words.times), bar, legend);
}

/** @param {Step} step */
function tokensLine(step) {
  const tokens = tokensOfStep(step);
  return tokens.length ? element("p", { className: "hint" }, words.tokens(tokens.map(([name, count]) => `${name} ${count.toLocaleString()}`))) : null;
}

/**
 * Draws the parts of a step; what a person has opened in the same step stays open, and a control
 * that has the focus is followed by the new one with the same content.
 *
 * @param {HTMLElement} body @param {string} id @param {Node[]} parts
 */
function replaceParts(body, id, parts) {
  const titleOf = (/** @type {Element} */ box) => box.querySelector("summary")?.textContent;
  const isSame = body.dataset.step === id;
  const opened = new Set(isSame ? [...body.querySelectorAll("details[open]")].map(titleOf) : []);
  const controls = () => [.../** @type {NodeListOf<HTMLElement>} */ (body.querySelectorAll("a, button, summary"))];
  const focused = isSame && controls().find((one) => one === document.activeElement);
  body.replaceChildren(...parts);
  for (const box of body.querySelectorAll("details")) {
    box.open ||= opened.has(titleOf(box));
  }
  if (focused) {
    controls().find((one) => one.tagName === focused.tagName && one.textContent === focused.textContent)?.focus({ preventScroll: true });
  }
  body.dataset.step = id;
}

export class StepDetails {
  /**
   * @param {string} id  of the chat, as it is in an address
   * @param {(path: string) => HTMLElement | null} [fileLink]  opens a file that a step names
   */
  constructor(id, fileLink = () => null) {
    this.id = id;
    this.fileLink = fileLink;
    /** @type {import("./nodes.js").ChatMessage[]} */
    this.messages = [];
    /** @type {Step[]} */
    this.steps = [];
    /** @type {string | null} */
    this.shown = null;
    this.drawn = "";
    this.readsConversation = false;
    byId("step-close").addEventListener("click", () => this.close());
    byId("step-box").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") {
        this.close();
      }
    });
    addEventListener("hashchange", () => this.openNamed());
  }

  close() {
    this.shown = null;
    byId("step-box").hidden = true;
    history.replaceState(null, "", location.pathname + location.search);
  }

  /** Keeps the steps of the run, opens the one that the address names, and redraws the open one.
   *  @param {Step[]} steps @param {boolean} readsConversation  false for a link to the steps alone */
  update(steps, readsConversation) {
    this.readsConversation = readsConversation;
    const first = this.steps.length === 0;
    this.steps = steps;
    if (first && steps.length) {
      this.openNamed();
    }
    const shown = steps.find((step) => step.id === this.shown);
    if (shown && JSON.stringify(shown) !== this.drawn) {
      this.show(shown);
    }
  }

  /** Draws the open step again, whose links may lead elsewhere now. */
  async redraw() {
    const shown = this.steps.find((step) => step.id === this.shown);
    if (shown) {
      await this.show(shown);
    }
  }

  openNamed() {
    const id = new URLSearchParams(location.hash.slice(1)).get("step");
    const named = id && id !== this.shown && this.steps.find((step) => step.id === id);
    if (named) {
      this.show(named);
    }
  }

  /** @param {string} stepId */
  open(stepId) {
    const step = this.steps.find((each) => each.id === stepId);
    if (step) {
      history.replaceState(null, "", `#step=${encodeURIComponent(stepId)}`);
      this.show(step);
      byId("step-box").scrollIntoView({ block: "nearest" });
      byId("step-title").focus({ preventScroll: true });
    }
  }

  /** @param {any} step */
  async show(step) {
    this.shown = step.id;
    this.drawn = JSON.stringify(step);
    const exchange = await this.exchange(step);
    if (this.shown !== step.id) {
      return;
    }
    setText(byId("step-title"), stepTitle(step));
    const facts = [step.tool, step.status, step.ended_at ? duration(step.ended_at - step.started_at) : ""];
    setText(byId("step-facts"), facts.filter(Boolean).join(" · "));
    const said = exchange.said && element("div", { className: "step-said" }, longText(exchange.said));
    const parts = [
      stepPictures(this.steps, step),
      said,
      collapsed(words.thought, exchange.thought),
      output(words.error, step.error, "bad"),
      output(words.argumentsOf(step.tool), JSON.stringify(step.arguments ?? {}, null, 2)),
      exchange.received === step.error ? null : output(words.result, exchange.received),
      stagesBar(step),
      tokensLine(step),
      this.links(step),
    ];
    replaceParts(byId("step-body"), step.id, /** @type {Node[]} */ (parts.filter(Boolean)));
    byId("step-box").hidden = false;
  }

  /** @param {any} step */
  links(step) {
    const line = element("p", { className: "step-links" });
    const moment = typeof step.video_start === "number" ? clock(step.video_start, true) : "";
    line.append(element("a", { href: `#step=${encodeURIComponent(step.id)}` }, words.link(moment)));
    if (step.screenshot_file_id) {
      line.append(element("a", { href: address(`api/v0/files/${step.screenshot_file_id}?download=true`) }, words.savePicture));
    }
    line.append(...pathsOf(step).map(this.fileLink).filter((link) => link !== null));
    return line;
  }

  /** Reads the messages once, and again for a step that is newer.  @param {any} step */
  async exchange(step) {
    const known = exchangeOf(this.messages, step.tool_call_id);
    if (known.received !== null || !this.readsConversation) {
      return known;
    }
    try {
      this.messages = (await get(`api/v0/chats/${this.id}/messages`)).messages;
    } catch {
      // The step is shown without its exchange while the service does not answer.
      return known;
    }
    return exchangeOf(this.messages, step.tool_call_id);
  }
}
