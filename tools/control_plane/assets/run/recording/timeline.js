// The time line below the picture: ruler, filmstrip, marks of the steps, lanes and idle stretches.
//
// The wheel zooms, dragging selects a span, a click seeks. The marks are a list box: one Tab stop,
// arrow keys inside, Enter seeks to a step and zooms into a band.
import { byId, element, setText } from "../../dom.js";
import { pause } from "../../pause.js";
import { texts } from "../../texts.js";
import { clock, duration, spanWords } from "../../words.js";
import { Filmstrip, showTile, tileAt } from "./filmstrip.js";
import { drawLanes } from "./lane_picture.js";
import { LANES, laneSpans } from "./lanes.js";
import { LEAST_DISTANCE, densityOf, marksOf } from "./marks.js";
import { TimeMap } from "./time_map.js";
import { TimeScale, clamp } from "./time_scale.js";

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {import("./marks.js").Mark} Mark */
/** @typedef {import("./time_scale.js").Span} Span */
/** @typedef {{seek: (time: number) => void, chosen: (step: ShownStep) => void, selected: (span: Span | null) => void}} Listener */

const DRAG_PIXELS = 5;
const LETTER_PIXELS = 7;
const TILE_HEIGHT = 90;
const texted = texts.recording;

export class Timeline {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.plot = byId("plot");
    this.marksBox = byId("strip");
    this.filmstrip = new Filmstrip(byId("filmstrip"));
    this.filmstrip.loaded = () => this.filmstrip.draw(this.scale);
    this.scale = new TimeScale(0, 0);
    this.times = new TimeMap([]);
    /** @type {ShownStep[]} */
    this.steps = [];
    /** @type {import("./lanes.js").LaneSpan[]} */
    this.spans = [];
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Span | null} */
    this.span = null;
    this.time = 0;
    /** @type {ShownStep | null} */
    this.current = null;
    /** @type {number | null} */
    this.dragFrom = null;
    byId("lane-names").replaceChildren(...LANES.map((lane) => element("span", { "data-lane": lane }, texted.lanes[lane])));
    this.listen();
  }

  listen() {
    const { plot } = this;
    new ResizeObserver(() => this.resize()).observe(plot);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    plot.addEventListener("wheel", (/** @type {WheelEvent} */ event) => this.wheel(event), { passive: false });
    plot.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.press(event));
    plot.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.move(event));
    plot.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => this.release(event));
    plot.addEventListener("pointercancel", () => {
      this.dragFrom = null;
    });
    plot.addEventListener("pointerleave", () => {
      byId("hover").hidden = true;
    });
    this.marksBox.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    this.marksBox.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const found = this.marks[[...this.marksBox.children].indexOf(/** @type {HTMLElement} */ (event.target).closest(".mark"))];
      if (found) {
        this.open(found);
      }
    });
  }

  /**
   * @param {number} total seconds of the run video
   * @param {ShownStep[]} steps with a time in the video, by it
   * @param {import("./time_map.js").Pair[]} pairs
   */
  async load(total, steps, pairs) {
    this.times = new TimeMap(pairs);
    this.steps = steps;
    this.scale = this.scale.resized(total, this.plot.clientWidth);
    // A long run has thousands of steps and stretches; the page answers to a person in between.
    for (const draw of this.parts()) {
      draw();
      await pause();
    }
    this.spans = laneSpans(steps, this.times);
    await pause();
    drawLanes(byId("lanes"), this.scale, this.spans);
  }

  resize() {
    const width = this.plot.clientWidth;
    // An observer also reports the first size, at which all is drawn already.
    if (width !== this.scale.width) {
      this.scale = this.scale.resized(this.scale.total, width);
      this.draw();
    }
  }

  /** @param {number} time @param {ShownStep | null} current @param {boolean} playing */
  show(time, current, playing) {
    this.time = time;
    const moved = playing ? this.scale.showing(time) : this.scale;
    if (moved !== this.scale) {
      this.zoom(moved);
    }
    byId("played").style.left = `${this.scale.x(time)}px`;
    byId("played").hidden = time < this.scale.from || time > this.scale.to;
    if (current !== this.current) {
      this.current = current;
      this.showCurrent();
    }
  }

  showCurrent() {
    const step = this.current;
    [...this.marksBox.children].forEach((node, index) => {
      const current = step !== null && this.marks[index]?.steps.includes(step);
      node.setAttribute("aria-selected", String(current));
      if (!this.marksBox.contains(document.activeElement)) {
        /** @type {HTMLElement} */ (node).tabIndex = current || (step === null && index === 0) ? 0 : -1;
      }
    });
    if (!this.marksBox.querySelector("[tabindex='0']")) {
      this.marksBox.firstElementChild?.setAttribute("tabindex", "0");
    }
  }

  /** @param {TimeScale} scale */
  zoom(scale) {
    this.scale = scale;
    this.draw();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.zoom(this.scale.zoomed(this.time, factor));
  }

  /** @param {Span | null} span */
  select(span) {
    this.span = span;
    this.drawSpan();
    this.listener.selected(span);
  }

  draw() {
    const parts = this.parts();
    for (const draw of parts) {
      draw();
    }
    if (parts.length) {
      drawLanes(byId("lanes"), this.scale, this.spans);
    }
  }

  /** What draws all but the lanes, in slices; empty if there is nothing to draw.  @return {(() => void)[]} */
  parts() {
    if (!this.scale.total || !this.scale.width) {
      return [];
    }
    return [
      () => this.drawRuler(),
      () => this.drawMarks(),
      () => this.drawStills(),
      () => this.filmstrip.draw(this.scale),
      () => this.drawWindow(),
    ];
  }

  drawWindow() {
    const { scale } = this;
    this.drawSpan();
    const window = byId("window");
    window.hidden = scale.whole;
    window.style.left = `${(scale.from / scale.total) * 100}%`;
    window.style.width = `${(scale.seconds / scale.total) * 100}%`;
    this.show(this.time, this.current, false);
  }

  drawRuler() {
    const { times, step } = this.scale.ticks();
    const ticks = times.map((time) => {
      const made = element("span", {}, clock(time, step < 1));
      made.style.left = `${this.scale.x(time)}px`;
      return made;
    });
    byId("ruler").replaceChildren(...ticks);
  }

  drawMarks() {
    const focused = this.marksBox.contains(document.activeElement) ? this.marks[this.focusedIndex()]?.steps[0] : null;
    this.marks = marksOf(this.steps, this.scale);
    const nodes = this.marks.map((mark) => (mark.steps.length > 1 ? this.band(mark) : this.mark(mark)));
    this.marksBox.replaceChildren(...nodes);
    this.showCurrent();
    if (focused) {
      // By id: the steps may have been read again since.
      nodes[this.marks.findIndex((mark) => mark.steps.some((step) => step.id === focused.id))]?.focus();
    }
  }

  /** @param {Mark} mark */
  mark({ x, steps: [step], failed }) {
    const number = this.steps.indexOf(step) + 1;
    const name = texted.mark(number, step.label, failed > 0);
    const made = element("span", { className: "mark", role: "option", tabIndex: -1, title: name, "aria-label": name });
    made.dataset.tone = failed ? "bad" : step.tool === "human" ? "person" : "";
    made.style.left = `${x}px`;
    return made;
  }

  /** @param {Mark} mark */
  band(mark) {
    const name = `${texted.band(mark.steps.length, mark.failed)}, ${spanWords(mark.steps[0].video_start ?? 0, mark.steps.at(-1)?.video_start ?? 0)}`;
    const bars = densityOf(mark, this.scale).map((height) => {
      const bar = element("i");
      bar.style.height = `${25 + 75 * height}%`;
      return bar;
    });
    const made = element("span", { className: "mark band", role: "option", tabIndex: -1, title: name, "aria-label": name }, ...bars);
    made.dataset.tone = mark.failed ? "bad" : "";
    made.style.left = `${mark.x}px`;
    made.style.width = `${Math.max(LEAST_DISTANCE, mark.end - mark.x)}px`;
    return made;
  }

  drawStills() {
    const { scale } = this;
    const visible = this.times.stills().filter(({ from, to }) => to > scale.from && from < scale.to && scale.x(to) - scale.x(from) > 2);
    let free = 0;
    const stills = visible.flatMap(({ from, to, real }) => {
      const left = Math.max(0, scale.x(from));
      const width = Math.min(scale.width, scale.x(to)) - left;
      const still = element("span", { className: "still" });
      still.style.left = `${left}px`;
      still.style.width = `${width}px`;
      const words = texted.shortened(duration(real), duration(to - from));
      const wide = words.length * LETTER_PIXELS;
      const begin = clamp(left + width / 2 - wide / 2, 0, scale.width - wide);
      if (begin < free) {
        // It would cover the label before it; the pointer still shows it.
        return [still];
      }
      free = begin + wide;
      const label = element("b", {}, words);
      label.style.left = `${begin}px`;
      return [still, label];
    });
    byId("stills").replaceChildren(...stills);
  }

  drawSpan() {
    const { scale, span } = this;
    const box = byId("span");
    box.hidden = !span;
    if (span) {
      const left = Math.max(0, scale.x(span.from));
      box.style.left = `${left}px`;
      box.style.width = `${Math.max(0, Math.min(scale.width, scale.x(span.to)) - left)}px`;
    }
  }

  /** @param {MouseEvent} event @return {number} pixels from the left edge of the plot */
  place(event) {
    return event.clientX - this.plot.getBoundingClientRect().left;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const { scale } = this;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      const by = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY;
      this.zoom(scale.moved((by / scale.width) * scale.seconds));
    } else {
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
      this.zoom(scale.zoomed(scale.time(this.place(event)), Math.exp(event.deltaY * lines * 0.002)));
    }
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button === 0 && !(/** @type {HTMLElement} */ (event.target).closest(".mark"))) {
      this.dragFrom = this.place(event);
      this.plot.setPointerCapture(event.pointerId);
    }
  }

  /** @param {PointerEvent} event */
  move(event) {
    const x = this.place(event);
    this.hover(x, event);
    if (this.dragFrom !== null && Math.abs(x - this.dragFrom) >= DRAG_PIXELS) {
      const [from, to] = [this.scale.time(this.dragFrom), this.scale.time(x)].sort((a, b) => a - b);
      this.span = { from, to };
      this.drawSpan();
    }
  }

  /** @param {PointerEvent} event */
  release(event) {
    if (this.dragFrom === null) {
      return;
    }
    const x = this.place(event);
    const dragged = Math.abs(x - this.dragFrom) >= DRAG_PIXELS;
    this.dragFrom = null;
    if (dragged) {
      this.select(this.span);
    } else {
      this.listener.seek(this.scale.time(x));
    }
  }

  /** @param {number} x @param {MouseEvent} event */
  hover(x, event) {
    const box = byId("hover");
    const time = this.scale.time(x);
    const real = this.times.real(time);
    const still = this.times.stills().find(({ from, to }) => time >= from && time <= to);
    const lines = [clock(time, true), real === null ? "" : new Date(real * 1000).toLocaleTimeString(), still ? texted.shortened(duration(still.real), duration(still.to - still.from)) : ""];
    setText(byId("hover-words"), lines.filter(Boolean).join(" · "));
    const tile = byId("hover-tile");
    const { sprite } = this.filmstrip;
    tile.hidden = !sprite;
    if (sprite) {
      tile.style.width = `${(sprite.width / sprite.height) * TILE_HEIGHT}px`;
      showTile(tile, sprite, tileAt(sprite, time, this.scale.total), TILE_HEIGHT);
    }
    box.hidden = event instanceof PointerEvent && event.pointerType === "touch";
    const half = box.offsetWidth / 2;
    box.style.left = `${Math.max(half, Math.min(this.scale.width - half, x))}px`;
  }

  focusedIndex() {
    return [...this.marksBox.children].indexOf(/** @type {Element} */ (document.activeElement));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const last = this.marks.length - 1;
    const at = this.focusedIndex();
    const wanted = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: last }[event.key];
    if (wanted !== undefined && !event.shiftKey) {
      const nodes = /** @type {HTMLElement[]} */ ([...this.marksBox.children]);
      const next = nodes[Math.max(0, Math.min(last, wanted))];
      nodes.forEach((node) => {
        node.tabIndex = node === next ? 0 : -1;
      });
      next?.focus();
    } else if (event.key === "Enter" && this.marks[at]) {
      this.open(this.marks[at]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Seeks to a step, or zooms into a band until its steps are apart. @param {Mark} mark */
  open({ steps }) {
    const [from, to] = [steps[0].video_start ?? 0, steps.at(-1)?.video_start ?? 0];
    const closer = this.scale.around({ from, to });
    if (steps.length > 1 && closer.seconds < this.scale.seconds * 0.95) {
      this.zoom(closer);
    } else {
      this.listener.chosen(steps[0]);
    }
  }
}

