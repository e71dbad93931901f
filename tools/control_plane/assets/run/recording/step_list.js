// The list of a run's steps: filtered, grouped by the agent's sentence, and in elements only where
// it is visible. All rows have the same height; one row is a Tab stop, arrow keys move inside.
import { address } from "../../api.js";
import { byId, element, keyed, rem, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { clock, detailsOf, dollars, duration } from "../../words.js";
import { LANES, secondsOf } from "./lanes.js";
import { EVERYTHING, rowsOf } from "./step_rows.js";
import { cropOf, placeOf } from "./gestures.js";
import { scrolledTo, visibleRows } from "./visible_rows.js";

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {import("./step_rows.js").Row} Row */
/** @typedef {Extract<Row, {kind: "step"}>} StepRow */
/** @typedef {{total: number, fine: boolean, startedAt: number, screen: [number, number]}} Clock  of the recording, whose total is 0 without one */

const ROW = rem(3.75);

export class StepList {
  /** @param {(step: ShownStep) => void} chosen called with a step that was clicked */
  constructor(chosen) {
    this.view = byId("steps-view");
    this.list = byId("steps");
    this.chosen = chosen;
    /** @type {ShownStep[]} */
    this.steps = [];
    /** @type {Row[]} */
    this.rows = [];
    this.filter = EVERYTHING;
    /** @type {Clock} */
    this.clock = { total: 0, fine: true, startedAt: 0, screen: [0, 0] };
    /** @type {ShownStep | null} */
    this.current = null;
    /** @type {string | null} the row that is the Tab stop */
    this.stop = null;
    this.longest = 0;
    this.height = 0;
    this.view.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.resized()).observe(this.view);
    this.list.addEventListener("click", (/** @type {MouseEvent} */ event) => this.click(event));
    this.list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    this.list.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => this.enlarge(event));
    this.list.addEventListener("pointerleave", () => this.enlarge(null));
  }

  /** @param {ShownStep[]} steps @param {Clock} time */
  show(steps, time) {
    this.steps = steps;
    this.clock = time;
    this.longest = steps.reduce((most, step) => Math.max(most, this.secondsOf(step)), 0);
    this.refilter(this.filter);
  }

  /** @param {import("./step_rows.js").StepFilter} filter */
  refilter(filter) {
    const anchor = this.anchor();
    this.filter = filter;
    this.rows = rowsOf(this.steps, filter);
    const shown = this.rows.filter((row) => row.kind === "step").length;
    setText(byId("steps-count"), this.steps.length ? texts.recording.count(shown, this.steps.length) : "");
    setText(byId("steps-none"), this.steps.length ? texts.recording.noRows : texts.recording.noSteps);
    byId("steps-none").hidden = shown > 0;
    this.view.hidden = shown === 0;
    this.list.style.height = `${this.rows.length * ROW}px`;
    const index = this.rows.findIndex((row) => row.key === anchor?.key);
    if (anchor && index >= 0) {
      this.view.scrollTop = index * ROW - anchor.offset;
    }
    this.draw();
  }

  /** The row that stays where it is when rows come and go: the current one, or the first visible one. */
  anchor() {
    const { clientHeight, scrollTop } = this.view;
    const current = this.rows.findIndex((row) => row.key === this.current?.id);
    const visible = current >= 0 && scrolledTo(current, ROW, scrollTop, clientHeight) === null;
    const index = visible ? current : Math.ceil(scrollTop / ROW);
    return this.rows[index] && { key: this.rows[index].key, offset: index * ROW - scrollTop };
  }

  /** Shows the current step when the list comes into view. */
  resized() {
    const { clientHeight } = this.view;
    if (clientHeight > 0 && this.height === 0) {
      this.showCurrent();
    }
    this.height = clientHeight;
    this.draw();
  }

  showCurrent() {
    const index = this.rows.findIndex((row) => row.key === this.current?.id);
    if (index >= 0) {
      this.keepInView(index);
    }
  }

  draw() {
    const { first, last } = visibleRows(this.rows.length, ROW, this.view.scrollTop, this.view.clientHeight);
    const focused = this.rows.findIndex((row) => row.key === this.focusedKey());
    const places = Array.from({ length: last - first }, (_, at) => first + at);
    // The focus must not be lost while its row is out of view; rows that do not move keep it.
    if (focused >= 0 && focused < first) {
      places.unshift(focused);
    } else if (focused >= last) {
      places.push(focused);
    }
    const shown = places.map((place) => this.rows[place]);
    const index = new Map(shown.map((row, at) => [row.key, places[at]]));
    const stops = shown.some((row) => row.key === this.stop);
    const free = shown.find((row) => row.kind === "step")?.key;
    keyed(
      this.list,
      shown,
      (row) => row.key,
      (row) => (row.kind === "group" ? this.groupRow() : this.stepRow()),
      (node, row) => {
        node.style.top = `${(index.get(row.key) ?? 0) * ROW}px`;
        if (row.kind === "group") {
          this.updateGroup(node, row);
        } else {
          this.updateStep(node, row);
          const button = /** @type {HTMLElement} */ (node.firstElementChild);
          button.tabIndex = row.key === (stops ? this.stop : free) ? 0 : -1;
        }
      },
    );
  }

  focusedKey() {
    const row = /** @type {HTMLElement | null | undefined} */ (document.activeElement?.closest("#steps > li"));
    return row?.dataset.key;
  }

  /** @param {ShownStep | null} step */
  highlight(step) {
    if (step?.id === this.current?.id) {
      return;
    }
    this.current = step;
    if (!this.list.contains(document.activeElement)) {
      this.stop = step?.id ?? null;
    }
    this.showCurrent();
    this.draw();
  }

  // Scrolls the list alone: the page itself stays where the person left it.
  /** @param {number} index */
  keepInView(index) {
    const wanted = scrolledTo(index, ROW, this.view.scrollTop, this.view.clientHeight);
    if (wanted !== null) {
      this.view.scrollTop = wanted;
    }
  }

  groupRow() {
    return element("li", { className: "step-group" }, element("span", { className: "group-words" }), element("span", { className: "group-count" }));
  }

  /** @param {HTMLElement} node @param {Extract<Row, {kind: "group"}>} row */
  updateGroup(node, row) {
    const [words, count] = node.children;
    setText(words, row.text);
    /** @type {HTMLElement} */ (words).title = row.text;
    setText(count, String(row.count));
  }

  stepRow() {
    const bar = element("span", { className: "step-bar", "aria-hidden": "true" }, ...LANES.map((lane) => element("i", { "data-lane": lane })));
    const words = element("span", { className: "step-words" }, element("span", { className: "step-title" }), element("span", { className: "step-more" }), bar);
    const crop = element("span", { className: "step-crop", hidden: true }, element("img", { alt: "", decoding: "async" }));
    return element("li", {}, element("button", { type: "button" }, element("span", { className: "step-time" }), words, crop));
  }

  /** @param {HTMLElement} node @param {StepRow} row */
  updateStep(node, { step, number }) {
    const find = (/** @type {string} */ name) => /** @type {HTMLElement} */ (node.querySelector(`.${name}`));
    const button = /** @type {HTMLElement} */ (node.firstElementChild);
    const inVideo = step.video_start !== null;
    // Two clocks in one column would mislead: with a video, a step outside of it has no time.
    const outside = this.clock.total ? "–" : clock(step.started_at - this.clock.startedAt);
    setText(find("step-time"), step.video_start !== null ? clock(step.video_start, this.clock.fine) : outside);
    setText(find("step-title"), step.label);
    const taken = step.ended_at ? duration(step.ended_at - step.started_at) : texts.recording.running;
    const cost = step.usage?.cost_usd ? dollars(step.usage.cost_usd) : "";
    const kind = step.action || step.tool === "human" ? "" : step.tool;
    setText(find("step-more"), [step.error, kind, taken, cost, step.details?.input].filter(Boolean).join(" · "));
    find("step-more").title = step.timings ? detailsOf(/** @type {any} */ (step)) : "";
    node.dataset.tone = step.error || step.status === "failed" ? "bad" : step.status === "running" ? "busy" : step.tool === "human" ? "person" : "";
    node.setAttribute("aria-setsize", String(this.steps.length));
    node.setAttribute("aria-posinset", String(number));
    button.title = inVideo ? texts.recording.seek : "";
    if (step.id === this.current?.id) {
      button.setAttribute("aria-current", "step");
    } else {
      button.removeAttribute("aria-current");
    }
    this.updateBar(find("step-bar"), step);
    this.updateCrop(find("step-crop"), step);
  }

  /** @param {ShownStep} step */
  secondsOf(step) {
    return Object.values(secondsOf(step)).reduce((sum, each) => sum + each, 0);
  }

  /** @param {HTMLElement} bar @param {ShownStep} step */
  updateBar(bar, step) {
    const parts = secondsOf(step);
    LANES.forEach((lane, index) => {
      const node = /** @type {HTMLElement} */ (bar.children[index]);
      node.style.width = this.longest > 0 ? `${(parts[lane] / this.longest) * 100}%` : "0";
    });
  }

  /** @param {HTMLElement} box @param {ShownStep} step */
  updateCrop(box, step) {
    const image = /** @type {HTMLImageElement} */ (box.firstElementChild);
    box.hidden = !step.screenshot_file_id;
    if (step.screenshot_file_id && box.dataset.file !== step.screenshot_file_id) {
      box.dataset.file = step.screenshot_file_id;
      image.src = address(`api/v0/files/${step.screenshot_file_id}`);
      const place = placeOf(step, this.clock.screen);
      const [left, top] = place ? cropOf(place) : [0, 0];
      image.style.left = `${-left * 400}%`;
      image.style.top = `${-top * 400}%`;
      // A step without a point concerns the whole screen.
      image.style.width = place ? "400%" : "100%";
    }
  }

  /** Shows the whole screen of the row below the pointer. @param {PointerEvent | null} event */
  enlarge(event) {
    const target = /** @type {HTMLElement | undefined} */ (event?.target ?? undefined);
    const crop = event?.pointerType === "mouse" ? target?.closest("button")?.querySelector(".step-crop") : null;
    const box = byId("step-screen");
    const image = crop && !(/** @type {HTMLElement} */ (crop).hidden) ? /** @type {HTMLImageElement} */ (crop.firstElementChild) : null;
    box.hidden = !image;
    if (image && crop) {
      box.firstElementChild.src = image.src;
      const place = crop.getBoundingClientRect();
      const right = place.right + 12 + box.offsetWidth <= innerWidth;
      box.style.left = `${right ? place.right + 12 : Math.max(8, place.left - 12 - box.offsetWidth)}px`;
      box.style.top = `${Math.max(8, Math.min(innerHeight - box.offsetHeight - 8, place.top - box.offsetHeight / 2))}px`;
    }
  }

  /** @param {MouseEvent} event */
  click(event) {
    const node = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("li"));
    const found = this.rows.find((row) => row.key === node?.dataset.key);
    if (found?.kind === "step" && /** @type {HTMLElement} */ (event.target).closest("button")) {
      this.stop = found.key;
      this.chosen(found.step);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const keys = this.rows.filter((row) => row.kind === "step").map((row) => row.key);
    const at = keys.indexOf(this.focusedKey() ?? "");
    const page = Math.max(1, Math.floor(this.view.clientHeight / ROW) - 1);
    const moves = { ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page, PageDown: at + page, Home: 0, End: keys.length - 1 };
    const wanted = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (wanted === undefined || at < 0) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.stop = keys[Math.max(0, Math.min(keys.length - 1, wanted))];
    this.keepInView(this.rows.findIndex((row) => row.key === this.stop));
    this.draw();
    /** @type {HTMLElement | null} */ (this.list.querySelector("button[tabindex='0']"))?.focus({ preventScroll: true });
  }
}
