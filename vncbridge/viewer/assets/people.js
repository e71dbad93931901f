// What a page says and asks about people: names, who is in control, who wants to be.
import { texts } from "./texts.js";

const NAME = "deskhand-name";
const words = texts.control;

/** @typedef {import("./lease.js").LeaseState} LeaseState */

/**
 * @param {string} label
 * @param {(event: MouseEvent) => void} act
 * @param {Record<string, string>} attributes
 */
export function button(label, act, attributes = {}) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.addEventListener("click", act);
  return made;
}

/** Says who has control, and how many watch. */
export class People {
  constructor() {
    this.line = document.createElement("p");
    this.line.className = "viewer-people";
    this.holder = document.createElement("span");
    this.holder.className = "viewer-holder";
    this.count = document.createElement("span");
    this.count.className = "viewer-count";
    this.line.append(this.holder, this.count);
    this.line.hidden = true;
  }

  /** @param {LeaseState} state */
  show({ holder, watchers, you, stopped }) {
    /** @type {Record<string, string>} */
    const others = { person: words.isIn(holder.name), chat: words.agentWorks };
    this.holder.textContent = (!you && others[holder.kind]) || "";
    this.holder.hidden = this.holder.textContent === "";
    // The reader of this watches, though the server may not have counted it yet.
    this.count.textContent = words.watching(Math.max(watchers, 1)) + stoppedText(stopped);
    this.line.hidden = false;
  }
}

/** The choice whether others see the screen while a person is in control. */
export class Privacy {
  /** @param {() => void} changed */
  constructor(changed) {
    this.box = document.createElement("input");
    this.box.type = "checkbox";
    this.box.checked = true;
    this.box.addEventListener("change", changed);
    this.element = document.createElement("label");
    this.element.className = "viewer-private";
    this.element.title = words.privateTitle;
    this.element.append(this.box, words.private);
  }

  get wanted() {
    return this.box.checked;
  }
}

/** The programs of the agent that are stopped in private, those that are not, and whether keys pass. @param {LeaseState["stopped"]} stopped */
function stoppedText(stopped) {
  if (!stopped) {
    return "";
  }
  const names = stopped.not_stopped.join(", ");
  const programs = words.programs(stopped.count);
  const text = names ? words.stoppedExcept(programs, names) : words.stopped(programs);
  return stopped.keys_pass ? text : text + words.keysRefused;
}

export function rememberedName() {
  try {
    return localStorage.getItem(NAME) || "";
  } catch {
    return "";
  }
}

/** @param {string} name */
function remember(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // Private windows may have no storage: then the name is asked again.
  }
}

/**
 * A form that asks for a name, and resolves with it; empty when it was put away.
 *
 * @param {HTMLElement} host
 * @returns {Promise<string>}
 */
export function askName(host) {
  return new Promise((resolve) => {
    const form = document.createElement("form");
    form.className = "viewer-ask";
    const label = document.createElement("label");
    label.textContent = words.yourName;
    const field = document.createElement("input");
    field.name = "name";
    field.required = true;
    field.maxLength = 60;
    // The checker does not know this value of the property.
    field.setAttribute("autocomplete", "nickname");
    label.append(field);
    const end = (/** @type {string} */ name) => {
      form.remove();
      resolve(name);
    };
    const go = button(words.take, () => {}, { class: "primary" });
    go.type = "submit";
    const card = document.createElement("div");
    card.className = "viewer-card";
    card.append(label, button(words.cancel, () => end("")), go);
    form.append(card);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = field.value.trim();
      if (name) {
        remember(name);
        end(name);
      }
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        end("");
      }
    });
    host.append(form);
    field.focus();
  });
}

/** A line that says who asks for control, with both answers. */
export class Asked {
  /** @param {() => void} give @param {() => void} keep */
  constructor(give, keep) {
    this.line = document.createElement("div");
    this.line.className = "viewer-asked";
    this.line.setAttribute("role", "alert");
    this.words = document.createElement("span");
    this.line.append(
      this.words,
      button(words.give, give, { class: "primary" }),
      button(words.keep, keep),
    );
    this.line.hidden = true;
  }

  /** @param {LeaseState} state */
  show({ you, asked }) {
    this.line.hidden = !you || asked === null;
    if (you && asked) {
      this.words.textContent = words.asks(asked.name);
    }
  }
}
