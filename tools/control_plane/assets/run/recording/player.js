// @ts-nocheck
// The recording: one time line over all its parts, with marks where the steps are.
import { element, setText } from "../../dom.js";
import { clock } from "../../words.js";

const PICTURE = 1 / 15;
const RING_SECONDS = 1.2;
const KEYBOARD = new Set(["key", "hold_key", "type", "type_secret"]);

/** The steps as chapters, and as captions that a person may turn on in the video's own menu. */
function tracks(src) {
  const same = { label: "Steps", srclang: "en", src };
  return [element("track", { ...same, kind: "chapters", default: true }), element("track", { ...same, kind: "captions" })];
}

export class Player {
  /** @param elements {video, strip, played, now, ring, pressed}  @param chosen called when a mark is clicked */
  constructor(elements, { chosen, moved }) {
    this.elements = elements;
    this.chosen = chosen;
    this.moved = moved;
    this.parts = [];
    this.stills = [];
    this.part = 0;
    this.total = 0;
    this.steps = [];
    this.rings = true;
    const { video, strip } = elements;
    video.addEventListener("timeupdate", () => this.tick());
    video.addEventListener("seeked", () => this.tick());
    video.addEventListener("loadedmetadata", () => this.measured());
    video.addEventListener("ended", () => this.nextPart());
    strip.addEventListener("click", (event) => {
      const box = strip.getBoundingClientRect();
      this.seek(((event.clientX - box.left) / box.width) * this.total);
    });
  }

  /**
   * @param parts   [{url, seconds, chapters}] in order; seconds may be null for the only one
   * @param stills  [[from, to], ...] where idle time was shortened, on the whole time line
   */
  load(parts, stills) {
    const same = parts.map((p) => p.url).join() === this.parts.map((p) => p.url).join();
    if (same) {
      return;
    }
    this.parts = parts;
    this.stills = stills;
    this.total = parts.reduce((sum, part) => sum + (part.seconds || 0), 0);
    this.part = -1;
    this.open(0, 0);
    this.draw();
  }

  measured() {
    const { video } = this.elements;
    const part = this.parts[this.part];
    if (part && !part.seconds && Number.isFinite(video.duration)) {
      part.seconds = video.duration;
      this.total = this.parts.reduce((sum, each) => sum + (each.seconds || 0), 0);
      this.draw();
    }
    this.tick();
  }

  start(index) {
    return this.parts.slice(0, index).reduce((sum, part) => sum + (part.seconds || 0), 0);
  }

  /** Whether whole seconds are too coarse for so short a video. */
  get fine() {
    return this.total < 60;
  }

  get time() {
    return this.start(this.part) + this.elements.video.currentTime;
  }

  open(index, at, play = false) {
    const { video } = this.elements;
    if (index !== this.part) {
      this.part = index;
      const { playbackRate } = video;
      video.src = this.parts[index].url;
      video.replaceChildren(...tracks(this.parts[index].chapters));
      video.defaultPlaybackRate = playbackRate;
    }
    video.currentTime = at;
    if (play) {
      video.play().catch(() => {});
    }
  }

  seek(time) {
    const wanted = Math.max(0, Math.min(time, this.total));
    let index = 0;
    while (index < this.parts.length - 1 && wanted >= this.start(index + 1)) {
      index += 1;
    }
    this.open(index, wanted - this.start(index), !this.elements.video.paused);
  }

  nextPart() {
    if (this.part < this.parts.length - 1) {
      this.open(this.part + 1, 0, true);
    }
  }

  onePicture() {
    this.elements.video.pause();
    this.seek(this.time + PICTURE);
  }

  mark(steps) {
    this.steps = steps.filter((step) => typeof step.video_start === "number");
    this.draw();
  }

  draw() {
    const { strip, played } = this.elements;
    if (!this.total) {
      return;
    }
    const percent = (time) => `${Math.min(100, (time / this.total) * 100)}%`;
    const stills = this.stills.map(([from, to]) => {
      const made = element("span", { className: "still", title: "Idle time, shortened" });
      made.style.left = percent(from);
      made.style.width = percent(to - from);
      return made;
    });
    const marks = this.steps.map((step) => {
      const made = element("span", { className: "mark", title: `${clock(step.video_start, this.fine)} ${step.label}` });
      made.dataset.tone = step.error ? "bad" : "";
      made.style.left = percent(step.video_start);
      made.addEventListener("click", (event) => {
        event.stopPropagation();
        this.chosen(step);
      });
      return made;
    });
    strip.replaceChildren(...stills, played, ...marks);
  }

  /** The step that the picture shows: the last that has begun. */
  current() {
    // A little ahead: a seek to a step may land on the picture just before it.
    const now = this.time + 0.02;
    return this.steps.filter((step) => step.video_start <= now).at(-1) || null;
  }

  tick() {
    const { played, now } = this.elements;
    if (this.total) {
      played.style.width = `${(this.time / this.total) * 100}%`;
    }
    const current = this.current();
    const number = this.steps.indexOf(current) + 1;
    setText(now, current ? `${number} of ${this.steps.length}: ${current.label}` : "");
    this.point(current);
    this.moved(current);
  }

  /** Shows what is pressed and rings the place of a click; the video has the size of the screen. */
  point(step) {
    const { ring, pressed, video } = this.elements;
    const fresh = this.rings && step && this.time - step.video_start < RING_SECONDS;
    const keys = fresh && KEYBOARD.has(step.action || step.tool);
    pressed.hidden = !keys;
    setText(pressed, keys ? step.label : "");
    const place = step?.details?.native_point;
    ring.hidden = !(fresh && place && video.videoWidth);
    if (!ring.hidden) {
      ring.style.left = `${(place[0] / video.videoWidth) * 100}%`;
      ring.style.top = `${(place[1] / video.videoHeight) * 100}%`;
    }
  }
}
