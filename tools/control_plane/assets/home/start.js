// The form that starts a task: its text, and the options of the order.
import { address, get, post } from "../api.js";
import { byId, element, keyed, setText } from "../dom.js";
import { textOf } from "../run/conversation/nodes.js";
import { texts } from "../texts.js";
import { earlierTasks, orderOf } from "./order.js";

const words = texts.start;

/**
 * @typedef {{
 *   usual: string, models: {model: string, provider: string, has_key: boolean}[],
 *   scripts: {model: string, about: string}[],
 * }} Models
 */

export class StartForm {
  /** @param {() => void} started  called after a task was started, or was refused */
  constructor(started) {
    this.started = started;
    this.form = byId("task");
    /** @type {readonly {id: string, name: string, status: string}[]} */
    this.desktops = [];
    /** @type {readonly Chat[]} */
    this.earlier = [];
    // Its choices are drawn while they are shown: the page has less to draw, and to search.
    byId("options").addEventListener("toggle", () => this.drawChoices());
    this.form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      this.start();
    });
    byId("prompt").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        this.form.requestSubmit();
      }
    });
    byId("earlier").addEventListener("change", (/** @type {any} */ { currentTarget }) => this.repeat(currentTarget.value));
  }

  /** @param {Models} known */
  showModels(known) {
    const usable = known.models.filter((one) => one.has_key).map((one) => ({ model: one.model, about: one.provider }));
    keyed(
      byId("models"),
      [...usable, ...known.scripts],
      ({ model }) => model,
      ({ model, about }) => element("option", { value: model }, about),
      () => {},
    );
    byId("model-name").placeholder = words.usual(known.usual);
    keyed(
      byId("scripts"),
      known.scripts,
      ({ model }) => model,
      ({ model, about }) => {
        const choose = element("button", { type: "button", className: "script" }, model);
        choose.addEventListener("click", () => {
          byId("model-name").value = model;
          byId("options").open = true;
        });
        return element("li", {}, choose, ` ${about}`);
      },
      () => {},
    );
  }

  /**
   * Keeps what a task can be given to, and what can be repeated.
   *
   * @param {readonly {id: string, name: string, status: string}[]} desktops
   * @param {readonly Chat[]} chats  the newest first
   */
  show(desktops, chats) {
    this.desktops = desktops.filter((one) => one.status === "ready");
    this.earlier = earlierTasks(chats);
    this.drawChoices();
  }

  drawChoices() {
    if (!byId("options").open) {
      return;
    }
    this.options("desktop", [
      { value: "", text: words.ownDesktop },
      ...this.desktops.map(({ id, name }) => ({ value: id, text: name || id })),
    ]);
    this.options("earlier", [
      { value: "", text: words.noEarlier },
      ...this.earlier.map(({ id, title }) => ({ value: id, text: title ?? "" })),
    ]);
    byId("earlier-field").hidden = this.earlier.length === 0;
  }

  /** @param {string} name @param {{value: string, text: string}[]} choices */
  options(name, choices) {
    keyed(
      byId(name),
      choices,
      ({ value }) => value,
      ({ value }) => element("option", { value }),
      (option, { text }) => setText(option, text),
    );
  }

  /** Fills in the task of an earlier chat. @param {string} id */
  async repeat(id) {
    if (!id) {
      return;
    }
    try {
      const { messages } = await get(`api/v0/chats/${encodeURIComponent(id)}/messages`);
      const first = messages.find((/** @type {any} */ message) => message.role === "user");
      byId("prompt").value = first ? textOf(first.content) : "";
      byId("prompt").focus();
    } catch (/** @type {any} */ error) {
      setText(byId("task-words"), error.message);
    }
  }

  async start() {
    const order = orderOf(/** @type {any} */ (Object.fromEntries(new FormData(this.form))));
    const said = byId("task-words");
    if (!order.prompt) {
      said.textContent = words.empty;
      return;
    }
    said.textContent = words.starting;
    this.form.inert = true;
    try {
      const answer = await post("api/v0/tools/spawn_computer_use_agent", order);
      if (answer.is_error) {
        said.textContent = answer.error;
      } else {
        this.form.reset();
        const { chat_id: id, title } = answer.result;
        said.replaceChildren(words.started, element("a", { href: address(`runs/${id}`) }, title || words.theRun));
      }
    } catch (/** @type {any} */ error) {
      said.textContent = error.message;
    }
    this.form.inert = false;
    this.started();
  }
}
