// Fingers on the picture: two of them enlarge and move it, one moves it while the desktop is only
// watched. In control noVNC turns all others into clicks and scrolling: a tap clicks, a long press is
// a right click, two fingers scroll.
import GestureHandler from "./gestures.js";
import { panned, pinched, revealed, WHOLE, within } from "./zoom.js";

const KINDS = ["gesturestart", "gesturemove", "gestureend"];
/** @typedef {import("./zoom.js").Point} Point */
/** @typedef {CustomEvent<import("./novnc/core/input/gesturehandler.js").GestureDetail>} Gesture */
const MOVING = ["drag", "twodrag", "longpress"];

export class Touch {
  /**
   * @param {HTMLElement} screen  the box of the picture
   * @param {HTMLElement} canvas  the picture: its size and place are set here
   */
  constructor(screen, canvas) {
    this.screen = screen;
    this.canvas = canvas;
    this.view = WHOLE;
    this.watching = new GestureHandler();
    this.isWatching = false;
    /** @type {Point | null} */
    this.pointer = null;
    /** @type {number | undefined} */
    this.visible = undefined;
    /** @type {Point} */
    this.fingers = { x: 0, y: 0 };
    this.began = this.fingers;
    /** @type {Point | undefined} where the fingers were at the last event of a gesture */
    this.last = undefined;
    this.distance = 0;
    // In the capturing phase: before the handler that turns fingers into gestures.
    for (const kind of ["touchstart", "touchmove"]) {
      screen.addEventListener(kind, (event) => this.touched(/** @type {TouchEvent} */ (event)), { capture: true, passive: true });
    }
    for (const kind of KINDS) {
      screen.addEventListener(kind, (event) => this.gesture(/** @type {Gesture} */ (event)), { capture: true });
    }
    window.visualViewport?.addEventListener("resize", () => this.keyboard());
    new ResizeObserver(() => this.show(within(this.view, this.box()))).observe(screen);
  }

  /** Whether gestures move the picture alone, and nothing on the desktop. @param {boolean} wanted */
  watch(wanted) {
    if (wanted !== this.isWatching) {
      this.isWatching = wanted;
      if (wanted) {
        this.watching.attach(this.screen);
      } else {
        this.watching.detach();
      }
    }
  }

  reset() {
    this.show(WHOLE);
  }

  box() {
    return { width: this.screen.clientWidth, height: this.screen.clientHeight, visible: this.visible };
  }

  /** @param {{clientX: number, clientY: number}} place @returns {Point} */
  place({ clientX, clientY }) {
    const { clientLeft, clientTop } = this.screen;
    // The picture is placed inside the frame that shows who has control.
    const corner = this.screen.getBoundingClientRect();
    return { x: clientX - corner.left - clientLeft, y: clientY - corner.top - clientTop };
  }

  /** Notes where the fingers are: a gesture reports only where it began. @param {TouchEvent} event */
  touched({ type, touches }) {
    const sum = (/** @type {"clientX" | "clientY"} */ name) => [...touches].reduce((total, each) => total + each[name], 0) / touches.length;
    this.fingers = this.place({ clientX: sum("clientX"), clientY: sum("clientY") });
    if (type === "touchstart") {
      this.began = this.fingers;
    }
  }

  /** @param {Gesture} event */
  gesture(event) {
    const { type, magnitudeX, magnitudeY } = event.detail;
    if (type === "pinch") {
      event.stopImmediatePropagation();
      this.pinch(event.type, Math.hypot(magnitudeX, magnitudeY));
    } else if (this.isWatching) {
      event.stopImmediatePropagation();
      this.pan(event.type, MOVING.includes(type));
    } else {
      this.pointer = this.place(event.detail);
    }
  }

  /** @param {string} kind @param {number} distance */
  pinch(kind, distance) {
    if (kind === "gesturemove" && this.last && this.distance) {
      this.show(pinched(this.view, distance / this.distance, this.last, this.fingers, this.box()));
    }
    this.distance = distance;
    // A pinch begins with the distance at the touch, from which the fingers have moved since.
    this.last = kind === "gesturestart" ? this.began : this.fingers;
  }

  /** @param {string} kind @param {boolean} moves */
  pan(kind, moves) {
    if (kind === "gesturemove" && moves && this.last) {
      const by = { x: this.fingers.x - this.last.x, y: this.fingers.y - this.last.y };
      this.show(panned(this.view, by, this.box()));
    }
    this.last = this.fingers;
  }

  /** Keeps the last pressed point above the on-screen keyboard, which covers a part of the page. */
  keyboard() {
    const { height, offsetTop } = /** @type {VisualViewport} */ (window.visualViewport);
    const { top, bottom } = this.screen.getBoundingClientRect();
    const visible = height + offsetTop - top;
    this.visible = visible < bottom - top - 1 && visible > 0 ? visible : undefined;
    const box = this.box();
    this.show(this.pointer ? revealed(this.view, this.pointer, box) : within(this.view, box));
  }

  /** @param {import("./zoom.js").View} view */
  show(view) {
    // Where the pressed point is now.
    if (this.pointer) {
      const grown = view.scale / this.view.scale;
      this.pointer = {
        x: (this.pointer.x - this.view.left) * grown + view.left,
        y: (this.pointer.y - this.view.top) * grown + view.top,
      };
    }
    this.view = view;
    const { style } = this.canvas;
    // The size, and no transform: noVNC computes points of the desktop from the element's size.
    style.width = `${view.scale * 100}%`;
    style.height = `${view.scale * 100}%`;
    style.left = `${view.left}px`;
    style.top = `${view.top}px`;
  }
}
