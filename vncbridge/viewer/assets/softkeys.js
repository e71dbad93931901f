// A touch device shows its keyboard for a text field only. This one is unseen, and what is
// typed into it goes to the desktop as keysyms.
import { texts } from "./texts.js";

const BACKSPACE = 0xff08;
const RETURN = 0xff0d;
// Something to delete: an empty field reports no deletion.
const FILLING = "\u00a0";

/** X11 keysym of a character: Latin-1 as it is, the rest by the Unicode rule. @param {string} character */
export function keysymOf(character) {
  const point = character.codePointAt(0) ?? 0;
  if (point === 0x0a) {
    return RETURN;
  }
  const latin = (point >= 0x20 && point <= 0x7e) || (point >= 0xa0 && point <= 0xff);
  return latin ? point : 0x01000000 + point;
}

export class SoftKeys {
  /** @param {(keysym: number) => void} send */
  constructor(send) {
    this.send = send;
    this.field = document.createElement("textarea");
    this.field.className = "viewer-softkeys";
    this.field.autocapitalize = "off";
    this.field.autocomplete = "off";
    this.field.spellcheck = false;
    this.field.tabIndex = -1;
    this.field.setAttribute("aria-label", texts.keys.type);
    this.field.value = FILLING;
    this.field.addEventListener("input", (event) => {
      // A word that a phone still proposes is sent when it is chosen, which is no input.
      if (!(/** @type {InputEvent} */ (event).isComposing)) {
        this.typed();
      }
    });
    this.field.addEventListener("compositionend", () => this.typed());
  }

  show() {
    this.field.focus({ preventScroll: true });
  }

  typed() {
    const text = this.field.value;
    if (!text.startsWith(FILLING)) {
      this.send(BACKSPACE);
    }
    for (const character of text.replace(FILLING, "")) {
      this.send(keysymOf(character));
    }
    this.field.value = FILLING;
  }
}
