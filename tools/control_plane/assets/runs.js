// All runs: an endless list, searched and filtered, in which several can be selected.
import { address, get } from "./api.js";
import { byId, element, keyed } from "./dom.js";
import { role } from "./rights.js";
import { familyCard, updateFamilyCard } from "./runs/family_card.js";
import { showHandRecordings } from "./runs/hand_list.js";
import { RunPages } from "./runs/pages.js";
import { runQuery } from "./runs/query.js";
import { RunSelection } from "./runs/selection.js";
import { texts } from "./texts.js";

const TYPING_MS = 150;
const words = texts.runs;
/** @type {HTMLFormElement} */
const form = byId("filter");

/** The filter as in the page's own address. */
function parameters() {
  const fields = /** @type {[string, string][]} */ ([...new FormData(form)]);
  return new URLSearchParams(fields.filter(([, value]) => value.trim()));
}

/** @param {string | null} cursor */
function read(cursor) {
  const filter = parameters();
  const query = runQuery(filter);
  if (![...filter].length) {
    // A search finds subagents, too; else they are shown with the run that started them.
    query.set("families", "true");
  }
  if (cursor) {
    query.set("cursor", cursor);
  }
  return get(`api/v0/runs?${query}`);
}

/** @param {boolean} none */
function showNone(none) {
  const box = byId("runs-none");
  box.hidden = !none;
  if (!none) {
    return;
  }
  const clear = element("button", { type: "button" }, words.showAll);
  clear.addEventListener("click", () => {
    form.reset();
    search();
  });
  const start = element("a", { className: "as-button", href: address("") }, words.start);
  const filtered = [...parameters()].length > 0;
  box.replaceChildren(filtered ? words.noneFits : words.none, " ", filtered ? clear : start);
}

const selection = new RunSelection(() => pages.begin());
const pages = new RunPages(
  byId("list"),
  read,
  (cards, chats) =>
    keyed(
      cards,
      chats,
      (chat) => chat.id,
      (chat) => familyCard(chat, selection),
      (card, chat) => updateFamilyCard(card, chat, selection),
    ),
  showNone,
);

function search() {
  const query = parameters().toString();
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
  pages.begin();
  showHandRecordings(runQuery(parameters()));
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
form.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, TYPING_MS);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});

/** @param {string} name @param {string} value @param {string} text */
function addChoice(name, value, text) {
  const select = /** @type {any} */ (form.elements.namedItem(name));
  const known = [...select.options].find((option) => option.value === value);
  if (known) {
    known.textContent = text;
  } else {
    select.append(element("option", { value }, text));
  }
}

/** Adds the models and, for an owner, the people that a run can be of. */
async function addChoices() {
  try {
    const { models, scripts } = await get("api/v0/models");
    for (const { model } of [...models, ...scripts]) {
      addChoice("model", model, model);
    }
    if ((await role) === "owner") {
      const { people } = await get("api/v0/people");
      byId("person-field").hidden = people.length === 0;
      for (const { id, name } of people) {
        addChoice("person", id, name);
      }
    }
  } catch {
    // Only the choices of the address remain, and the list reports what is wrong.
  }
}

for (const [name, value] of new URLSearchParams(location.search)) {
  const field = /** @type {any} */ (form.elements.namedItem(name));
  if (name === "model" || name === "person") {
    addChoice(name, value, value);
  }
  if (field?.type === "checkbox") {
    field.checked = value === field.value;
  } else if (field) {
    field.value = value;
  }
}
search();
addChoices();
