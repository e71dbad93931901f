// Keys that a browser or a phone does not give away, as buttons.
import { button } from "./people.js";
import { texts } from "./texts.js";

/** @typedef {[keysym: number, code: string]} Key */

/** @type {[string, Key[]][]} */
const CHORDS = [
  [texts.keys.esc, [[0xff1b, "Escape"]]],
  [texts.keys.tab, [[0xff09, "Tab"]]],
  [
    texts.keys.ctrlAltDel,
    [
      [0xffe3, "ControlLeft"],
      [0xffe9, "AltLeft"],
      [0xffff, "Delete"],
    ],
  ],
];
/** @type {[string, Key][]} */
const MODIFIERS = [
  [texts.keys.ctrl, [0xffe3, "ControlLeft"]],
  [texts.keys.alt, [0xffe9, "AltLeft"]],
  [texts.keys.shift, [0xffe1, "ShiftLeft"]],
  [texts.keys.super, [0xffeb, "MetaLeft"]],
];

export class Keys {
  /** @param {(keysym: number, code: string, down: boolean) => void} send
   *  @param {() => void} pressed  is called after each press of a button */
  constructor(send, pressed) {
    this.send = send;
    this.pressed = pressed;
    this.modifiers = MODIFIERS.map(([name, key]) =>
      button(name, (event) => this.hold(/** @type {HTMLElement} */ (event.currentTarget), key), { "aria-pressed": "false" }),
    );
    this.chords = CHORDS.map(([name, chord]) => button(name, () => this.press(chord)));
  }

  get buttons() {
    return [...this.modifiers, ...this.chords];
  }

  /** Holds a modifier down until it is pressed again. @param {HTMLElement} made @param {Key} key */
  hold(made, [keysym, code]) {
    const down = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(down));
    this.send(keysym, code, down);
    this.pressed();
  }

  /** @param {Key[]} chord */
  press(chord) {
    for (const [keysym, code] of chord) {
      this.send(keysym, code, true);
    }
    for (const [keysym, code] of [...chord].reverse()) {
      this.send(keysym, code, false);
    }
    this.pressed();
  }

  /** The desktop released all keys: so do the buttons. */
  up() {
    this.modifiers.forEach((each) => each.setAttribute("aria-pressed", "false"));
  }
}
