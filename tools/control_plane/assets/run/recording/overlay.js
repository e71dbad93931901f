// What the agent did with mouse and keyboard, drawn over the picture where it happened.
import { byId, setText } from "../../dom.js";
import { gestureOf } from "./gestures.js";

/** @typedef {import("./gestures.js").Gesture} Gesture */
/** @typedef {import("./gestures.js").Place} Place */
/** @typedef {import("./steps.js").ShownStep} ShownStep */

const SECONDS = 1.2;
const ARROWS = { "0,-1": "↑", "0,1": "↓", "-1,0": "←", "1,0": "→" };

/** @param {HTMLElement} node @param {Place} place */
function put(node, [x, y]) {
  node.style.left = `${x * 100}%`;
  node.style.top = `${y * 100}%`;
}

export class Overlay {
  /** @param {HTMLVideoElement} video */
  constructor(video) {
    this.video = video;
    this.on = true;
  }

  /** @param {ShownStep | null} step the newest that has begun @param {number} time second of the run video */
  show(step, time) {
    const { video } = this;
    const fresh = this.on && step !== null && step.video_start !== null && time - step.video_start < SECONDS;
    this.draw(fresh ? gestureOf(step, [video.videoWidth, video.videoHeight]) : null);
  }

  /** @param {Gesture} gesture */
  draw(gesture) {
    const words = gesture?.kind === "keys" || gesture?.kind === "text" ? gesture.text : "";
    byId("pressed").hidden = !words;
    setText(byId("pressed"), words);
    this.ring(gesture);
    const scrolled = byId("scrolled");
    scrolled.hidden = gesture?.kind !== "scroll";
    if (gesture?.kind === "scroll") {
      put(scrolled, gesture.at);
      setText(scrolled, ARROWS[/** @type {keyof typeof ARROWS} */ (`${gesture.x},${gesture.y}`)]);
    }
    const dragged = byId("dragged");
    dragged.toggleAttribute("hidden", gesture?.kind !== "drag");
    if (gesture?.kind === "drag") {
      const points = gesture.path.map(([x, y]) => `${x * 100},${y * 100}`).join(" ");
      for (const line of dragged.querySelectorAll("polyline")) {
        line.setAttribute("points", points);
      }
    }
  }

  /** @param {Gesture} gesture */
  ring(gesture) {
    const ring = byId("ring");
    const at = gesture?.kind === "drag" ? gesture.path.at(-1) : gesture && "at" in gesture && gesture.kind !== "scroll" && gesture.at;
    ring.hidden = !at;
    if (at) {
      put(ring, at);
      ring.dataset.kind = gesture?.kind === "click" ? gesture.button : gesture?.kind;
      ring.dataset.times = gesture?.kind === "click" ? gesture.times : 1;
    }
  }
}
