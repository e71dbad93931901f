// What a page says and asks about people: names, who is in control, who wants to be.

const NAME = "deskhand-name";

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

  show({ holder, watchers, you, stopped }) {
    const others = { person: `${holder.name} is in control`, chat: "An agent is at work" };
    const words = (!you && others[holder.kind]) || "";
    this.holder.textContent = words;
    this.holder.hidden = words === "";
    // The reader of this watches, though the server may not have counted it yet.
    this.count.textContent = `${Math.max(watchers, 1)} watching${stoppedText(stopped)}`;
    this.line.hidden = false;
  }
}

/** The programs of the agent that are stopped in private, and those that are not. */
function stoppedText(stopped) {
  if (!stopped) {
    return "";
  }
  const names = stopped.not_stopped.join(", ");
  const count = stopped.count === 1 ? "1 program" : `${stopped.count} programs`;
  return `, ${count} stopped${names ? `, not stopped: ${names}` : ""}`;
}

export function rememberedName() {
  try {
    return localStorage.getItem(NAME) || "";
  } catch {
    return "";
  }
}

function remember(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // Private windows may have no storage: then the name is asked again.
  }
}

/** A form that asks for a name, and resolves with it; empty when it was put away. */
export function askName(host) {
  return new Promise((resolve) => {
    const form = document.createElement("form");
    form.className = "viewer-ask";
    const label = document.createElement("label");
    label.textContent = "Your name, for others to see who is in control";
    const field = document.createElement("input");
    field.name = "name";
    field.required = true;
    field.maxLength = 60;
    field.autocomplete = "nickname";
    label.append(field);
    const end = (name) => {
      form.remove();
      resolve(name);
    };
    const go = button("Take control", () => {}, { class: "primary" });
    go.type = "submit";
    const card = document.createElement("div");
    card.className = "viewer-card";
    card.append(label, button("Cancel", () => end("")), go);
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
  constructor(give, keep) {
    this.line = document.createElement("div");
    this.line.className = "viewer-asked";
    this.line.setAttribute("role", "alert");
    this.words = document.createElement("span");
    this.line.append(
      this.words,
      button("Give control", give, { class: "primary" }),
      button("Keep it", keep),
    );
    this.line.hidden = true;
  }

  show(state) {
    const wanted = state.you && state.asked !== null;
    this.line.hidden = !wanted;
    if (wanted) {
      this.words.textContent = `${state.asked.name} asks for control.`;
    }
  }
}
