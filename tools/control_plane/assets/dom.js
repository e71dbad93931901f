// Elements. Text goes in as text only: much of it was written by a model or comes from the web.

/**
 * @param {string} tag
 * @param {Record<string, any>} properties
 * @param {...(Node | string | null | undefined)} children
 * @returns {any} The new element, with the type that its tag has.
 */
export function element(tag, properties = {}, ...children) {
  const made = /** @type {any} */ (document.createElement(tag));
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") {
      made[name] = value;
    } else if (value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns a length in pixels, for lists that compute where their rows are. @param {number} count */
export const rem = (count) => count * parseFloat(getComputedStyle(document.documentElement).fontSize);

/**
 * @param {string} id
 * @returns {any} The element, with the type that it has in the page.
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Makes the children of `list` match `items` by key, reusing what is there: a child that keeps its
 * place among the others is not moved, because a browser takes the focus from what is moved.
 *
 * @template Item
 * @param {HTMLElement} list
 * @param {readonly Item[]} items
 * @param {(item: Item) => string | number} key
 * @param {(item: Item) => HTMLElement} make
 * @param {(child: HTMLElement, item: Item) => void} update
 */
export function keyed(list, items, key, make, update) {
  const names = items.map((item) => String(key(item)));
  const kept = new Set(names);
  /** @type {Map<string | undefined, HTMLElement>} */
  const old = new Map();
  for (const child of /** @type {HTMLElement[]} */ ([...list.children])) {
    if (kept.has(child.dataset.key ?? "")) {
      old.set(child.dataset.key, child);
    } else {
      child.remove();
    }
  }
  let place = list.firstElementChild;
  items.forEach((item, index) => {
    let child = old.get(names[index]);
    if (!child) {
      child = make(item);
      child.dataset.key = names[index];
    }
    update(child, item);
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      list.insertBefore(child, place);
    }
  });
}

/**
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/** @param {() => unknown} work */
export async function troubled(work) {
  const box = byId("trouble");
  try {
    await work();
    box.hidden = true;
  } catch (error) {
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
  }
}
