// @ts-nocheck
// All runs: an endless list that holds only the pages near the screen, searched and filtered.
//
// A page of the API is one section. A section far from the screen keeps its height and gives its
// cards up; near the screen it reads them again by its cursor. So memory stays flat, however far a
// person scrolls.
import { address, get } from "./api.js";
import { runCard, updateRunCard } from "./cards.js";
import { byId, element, keyed, troubled } from "./dom.js";
import { runQuery } from "./runs/query.js";

const NEAR = "1200px 0px";
const TYPING_MS = 150;
const form = byId("filter");
const list = byId("list");
let asked = 0;

/** The filter as in the page's own address. */
function parameters() {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()));
}

function section(cursor) {
  const cards = element("ul", { className: "cards small" });
  const made = element("section", { className: "run-page" }, cards);
  made.cursor = cursor;
  return made;
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      // An entry may be older than the search that has removed its section.
      if (isIntersecting && target.isConnected) {
        fill(target);
      } else if (target.filled) {
        target.style.minHeight = `${target.offsetHeight}px`;
        target.firstElementChild.replaceChildren();
        target.filled = false;
      }
    }
  },
  { rootMargin: NEAR },
);

async function fill(page) {
  if (page.filled) {
    return;
  }
  page.filled = true;
  const round = asked;
  await troubled(async () => {
    try {
      const query = runQuery(parameters());
      if (page.cursor) {
        query.set("cursor", page.cursor);
      }
      const found = await get(`api/v0/runs?${query}`);
      if (round !== asked) {
        return;
      }
      keyed(page.firstElementChild, found.chats, (chat) => chat.id, runCard, (card, chat) => updateRunCard(card, chat));
      page.style.minHeight = "";
      if (found.next_cursor && page === list.lastElementChild) {
        add(found.next_cursor);
      }
      if (!page.cursor) {
        showNone(found.chats.length === 0, [...query].length > 0);
      }
    } catch (error) {
      page.filled = false;
      throw error;
    }
  });
}

function add(cursor) {
  const page = section(cursor);
  list.append(page);
  near.observe(page);
}

function showNone(none, filtered) {
  const words = byId("runs-none");
  words.hidden = !none;
  if (!none) {
    return;
  }
  const clear = element("button", { type: "button" }, "Show all runs");
  clear.addEventListener("click", () => {
    form.reset();
    search();
  });
  const start = element("a", { href: address("") }, "Start a task");
  words.replaceChildren(filtered ? "No run fits. " : "Nothing was run yet. ", filtered ? clear : start);
}

function search() {
  asked += 1;
  const query = parameters().toString();
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
  near.disconnect();
  list.replaceChildren();
  add(null);
}

let typing = 0;
form.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, TYPING_MS);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});

function addModel(name) {
  if (![...form.elements.model.options].some((option) => option.value === name)) {
    form.elements.model.append(element("option", { value: name }, name));
  }
}

async function addModels() {
  try {
    const { models, scripts } = await get("api/v0/models");
    [...models, ...scripts].forEach(({ model }) => addModel(model));
  } catch {
    // Only the model of the address can be chosen, and the list reports what is wrong.
  }
}

for (const [name, value] of new URLSearchParams(location.search)) {
  const field = form.elements[name];
  if (name === "model") {
    addModel(value);
  }
  if (field?.type === "checkbox") {
    field.checked = value === field.value;
  } else if (field) {
    field.value = value;
  }
}
search();
addModels();
