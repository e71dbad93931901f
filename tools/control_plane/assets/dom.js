// Elements. Text goes in as text only: much of it was written by a model or comes from the web.

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
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

export function byId(id) {
  return document.getElementById(id);
}

/**
 * Makes the children of `list` match `items` by key, reusing what is there: nothing that stays
 * loses its focus, its place or its picture.
 */
export function keyed(list, items, key, make, update) {
  const old = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let child = old.get(name);
    old.delete(name);
    if (!child) {
      child = make(item);
      child.dataset.key = name;
    }
    update(child, item);
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      list.insertBefore(child, place);
    }
  }
  for (const gone of old.values()) {
    gone.remove();
  }
}

export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

export async function troubled(work) {
  const box = byId("trouble");
  try {
    await work();
    box.hidden = true;
  } catch (error) {
    box.textContent = error.message;
    box.hidden = false;
  }
}
