// The video of a run: one time line over all parts of its recordings.
//
// The time that the page shows is that of the frame on the screen. A frame lasts until the next
// one, which may be long after it, because the recorder writes a frame only when the screen changed:
// from four frames on, the clock of the video counts. Earlier, a busy browser would show a step before
// its frame.
import { element } from "../../dom.js";
import { texts } from "../../texts.js";
import { clamp } from "./time_scale.js";

/** @typedef {{url: string, seconds: number | null, chapters: string}} VideoPart */
/** @typedef {import("./time_scale.js").Span} Span */

// The recorder writes 15 frames a second at most.
export const FRAME = 1 / 15;
const HELD = 4;

/** The steps as chapters, for programs that assist people. @param {string} src */
const track = (src) => element("track", { label: texts.recording.steps, srclang: texts.language, src, kind: "chapters", default: true });

export class Player {
  /**
   * @param {HTMLVideoElement} video
   * @param {{shown: (time: number) => void, changed: () => void}} listener `shown` a frame, `changed` the state of the player
   */
  constructor(video, listener) {
    this.video = video;
    this.listener = listener;
    /** @type {VideoPart[]} */
    this.parts = [];
    this.part = 0;
    this.total = 0;
    /** @type {Span | null} */
    this.loop = null;
    /** @type {number | null} */
    this.frameAt = null;
    for (const event of ["seeking", "seeked", "timeupdate"]) {
      video.addEventListener(event, () => this.show());
    }
    for (const event of ["play", "pause", "ratechange", "volumechange"]) {
      video.addEventListener(event, () => listener.changed());
    }
    video.addEventListener("play", () => this.run());
    video.addEventListener("loadedmetadata", () => this.measured());
    video.addEventListener("ended", () => this.ended());
    this.followFrames();
  }

  followFrames() {
    const { video } = this;
    if (!("requestVideoFrameCallback" in video)) {
      return;
    }
    /** @type {VideoFrameRequestCallback} */
    const frame = (_, { mediaTime }) => {
      this.frameAt = mediaTime;
      this.show();
      video.requestVideoFrameCallback(frame);
    };
    video.requestVideoFrameCallback(frame);
  }

  /** Shows the time at each repaint while the video plays. */
  run() {
    const again = () => {
      if (!this.video.paused) {
        this.show();
        requestAnimationFrame(again);
      }
    };
    requestAnimationFrame(again);
  }

  show() {
    const { loop, video } = this;
    if (loop && !video.paused && !video.seeking && this.time >= loop.to) {
      this.seek(loop.from);
    }
    this.listener.shown(this.time);
  }

  /** @param {VideoPart[]} parts in order; the seconds of the only one may be null */
  load(parts) {
    if (parts.map((part) => part.url).join() === this.parts.map((part) => part.url).join()) {
      return;
    }
    this.parts = parts;
    this.total = parts.reduce((sum, part) => sum + (part.seconds || 0), 0);
    this.part = -1;
    this.open(0, 0);
  }

  measured() {
    const part = this.parts[this.part];
    if (part && !part.seconds && Number.isFinite(this.video.duration)) {
      part.seconds = this.video.duration;
      this.total = this.parts.reduce((sum, each) => sum + (each.seconds || 0), 0);
    }
    this.listener.changed();
    this.show();
  }

  /** @param {number} index of a part @return {number} its first second */
  start(index) {
    return this.parts.slice(0, index).reduce((sum, part) => sum + (part.seconds || 0), 0);
  }

  /** Whether whole seconds are too coarse for so short a video. */
  get fine() {
    return this.total < 60;
  }

  get playing() {
    return !this.video.paused;
  }

  /** The second of the run video that is on the screen. */
  get time() {
    const { frameAt, video } = this;
    let at = video.currentTime;
    if (frameAt !== null && !video.paused && !video.seeking) {
      const late = at - frameAt;
      at = late > HELD * FRAME * Math.max(1, video.playbackRate) || late < -1 ? at : frameAt;
    }
    return this.start(this.part) + at;
  }

  /** @param {number} index @param {number} at seconds of that part @param {boolean} [play] */
  open(index, at, play = false) {
    const { video } = this;
    this.frameAt = null;
    if (index !== this.part) {
      this.part = index;
      const { playbackRate } = video;
      video.src = this.parts[index].url;
      video.replaceChildren(track(this.parts[index].chapters));
      video.defaultPlaybackRate = playbackRate;
    }
    video.currentTime = at;
    if (play) {
      // A browser may refuse to play before a person has pressed something.
      video.play().catch(() => {});
    }
    this.show();
  }

  /** @param {number} time second of the run video */
  seek(time) {
    const wanted = clamp(time, 0, this.total);
    let index = 0;
    while (index < this.parts.length - 1 && wanted >= this.start(index + 1)) {
      index += 1;
    }
    this.open(index, wanted - this.start(index), this.playing);
  }

  ended() {
    if (this.part < this.parts.length - 1) {
      this.open(this.part + 1, 0, true);
    } else if (this.loop) {
      this.seek(this.loop.from);
      this.video.play().catch(() => {});
    }
  }

  toggle() {
    const { video } = this;
    if (!video.paused) {
      video.pause();
      return;
    }
    if (this.time >= this.total - FRAME / 2) {
      this.seek(this.loop ? this.loop.from : 0);
    }
    video.play().catch(() => {});
  }

  /** Pauses at the next frame, or the one before. @param {1 | -1} direction */
  frame(direction) {
    this.video.pause();
    this.seek(this.time + direction * FRAME);
  }

  /** @param {number} rate */
  setRate(rate) {
    this.video.playbackRate = rate;
  }
}
