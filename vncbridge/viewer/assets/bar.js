// The bar of the live view: its state and its buttons. On a phone it is one slim line, and the rest
// is in a sheet over the picture.
import { button } from "./people.js";
import { texts } from "./texts.js";

/** Screens on which the bar is slim: narrow ones, and phones that lie on their side. */
export const SLIM = window.matchMedia("(width <= 44rem), (orientation: landscape) and (height <= 30rem)");

/**
 * @param {string} label
 * @param {...Node} members
 */
export function group(label, ...members) {
  const made = document.createElement("div");
  made.className = "viewer-group";
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", label);
  made.append(...members);
  return made;
}

export class Bar {
  /** @param {{words: HTMLElement, take: HTMLElement, keyboard: HTMLElement, more: HTMLElement[], below: HTMLElement[]}} parts
   *    `more` are in the line while there is room, `below` are lines of their own */
  constructor({ words, take, keyboard, more, below }) {
    this.words = words;
    this.moved = more;
    this.below = below;
    this.menu = button("⋯", () => this.open(this.sheet.hidden), {
      class: "viewer-menu",
      "aria-label": texts.bar.more,
      "aria-expanded": "false",
    });
    this.line = document.createElement("div");
    this.line.className = "viewer-bar";
    this.line.append(words, keyboard, take, this.menu);
    this.sheet = document.createElement("div");
    this.sheet.className = "viewer-sheet";
    this.sheet.setAttribute("role", "group");
    this.sheet.setAttribute("aria-label", texts.bar.label);
    for (const place of [this.line, this.sheet]) {
      place.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !this.sheet.hidden) {
          this.open(false);
          this.menu.focus();
        }
      });
    }
    this.lines = document.createElement("div");
    this.lines.className = "viewer-lines";
    SLIM.addEventListener("change", () => this.arrange());
    this.arrange();
  }

  /** Puts what is not in the slim line into the sheet, and back. */
  arrange() {
    const slim = SLIM.matches;
    if (slim) {
      this.sheet.append(...this.moved, ...this.below);
    } else {
      this.words.after(...this.moved);
      this.lines.append(...this.below);
    }
    this.menu.hidden = !slim;
    this.open(false);
  }

  /** @param {boolean} wanted */
  open(wanted) {
    this.sheet.hidden = !wanted;
    this.menu.setAttribute("aria-expanded", String(wanted));
  }
}
