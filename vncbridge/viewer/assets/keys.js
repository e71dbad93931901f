// Keys that a browser or a phone does not give away, as buttons.
import { button } from "./people.js";

const CHORDS = {
  Esc: [[0xff1b, "Escape"]],
  Tab: [[0xff09, "Tab"]],
  "Ctrl-Alt-Del": [
    [0xffe3, "ControlLeft"],
    [0xffe9, "AltLeft"],
    [0xffff, "Delete"],
  ],
};
const MODIFIERS = {
  Ctrl: [0xffe3, "ControlLeft"],
  Alt: [0xffe9, "AltLeft"],
  Shift: [0xffe1, "ShiftLeft"],
  Super: [0xffeb, "MetaLeft"],
};

export class Keys {
  /** @param {(keysym: number, code: string, down: boolean) => void} send
   *  @param {() => void} pressed  is called after each press of a button */
  constructor(send, pressed) {
    this.send = send;
    this.pressed = pressed;
    this.modifiers = Object.entries(MODIFIERS).map(([name, key]) =>
      button(name, (event) => this.hold(event.currentTarget, key), { "aria-pressed": "false" }),
    );
    this.chords = Object.entries(CHORDS).map(([name, chord]) =>
      button(name, () => this.press(chord)),
    );
  }

  get buttons() {
    return [...this.modifiers, ...this.chords];
  }

  /** Holds a modifier down until it is pressed again. */
  hold(made, [keysym, code]) {
    const down = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(down));
    this.send(keysym, code, down);
    this.pressed();
  }

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
