// The visible stretch of a time line, and its scale: seconds of the run video to pixels. Pure.

/** @typedef {{from: number, to: number}} Span  seconds of the run video */

// Ten pictures of a recording at 15 a second: closer, a pixel would be less than a millisecond.
export const SHORTEST_WINDOW = 0.66;
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
const TICK_PIXELS = 72;

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

export class TimeScale {
  /** @param {number} total seconds of the video @param {number} width pixels @param {Span} [window] */
  constructor(total, width, window = { from: 0, to: total }) {
    this.total = total;
    this.width = width;
    this.from = window.from;
    this.to = window.to;
  }

  get seconds() {
    return this.to - this.from;
  }

  /** Whether all of the video is visible. */
  get whole() {
    return this.seconds >= this.total - 1e-6;
  }

  /** @param {number} time @return {number} pixels from the left edge; outside of the window too */
  x(time) {
    return this.seconds > 0 ? ((time - this.from) / this.seconds) * this.width : 0;
  }

  /** @param {number} x pixels @return {number} seconds, within the video */
  time(x) {
    return clamp(this.from + (this.width > 0 ? x / this.width : 0) * this.seconds, 0, this.total);
  }

  /** The scale of the same video at another width or length. @param {number} total @param {number} width */
  resized(total, width) {
    const grown = this.whole ? { from: 0, to: total } : { from: Math.min(this.from, total), to: Math.min(this.to, total) };
    return new TimeScale(total, width, grown.to > grown.from ? grown : { from: 0, to: total });
  }

  /** A scale that shows `factor` times as many seconds around a moment. @param {number} at @param {number} factor */
  zoomed(at, factor) {
    const seconds = clamp(this.seconds * factor, Math.min(SHORTEST_WINDOW, this.total), this.total);
    const share = this.seconds > 0 ? (at - this.from) / this.seconds : 0;
    return this.at(at - share * seconds, seconds);
  }

  /** @param {number} by seconds */
  moved(by) {
    return this.at(this.from + by, this.seconds);
  }

  /** The scale that shows a span, with some room on both sides. @param {Span} span */
  around(span) {
    const room = Math.max((span.to - span.from) * 0.1, 0.1);
    const seconds = clamp(span.to - span.from + 2 * room, Math.min(SHORTEST_WINDOW, this.total), this.total);
    return this.at(span.from - room, seconds);
  }

  /** The scale moved as little as possible, so that a moment is visible. @param {number} time */
  showing(time) {
    if (time >= this.from && time <= this.to) {
      return this;
    }
    return this.at(time - this.seconds / 2, this.seconds);
  }

  /** @param {number} from @param {number} seconds */
  at(from, seconds) {
    const begins = clamp(from, 0, Math.max(0, this.total - seconds));
    return new TimeScale(this.total, this.width, { from: begins, to: begins + seconds });
  }

  /** The moments of the ruler, at round times. @return {{times: number[], step: number}} */
  ticks() {
    const least = this.width > 0 ? (this.seconds / this.width) * TICK_PIXELS : Infinity;
    const step = TICKS.find((each) => each >= least) ?? Math.max(3600, Math.ceil(least / 3600) * 3600);
    const times = [];
    for (let n = Math.max(0, Math.ceil(this.from / step - 1e-9)); n * step <= this.to + 1e-9 && times.length < 200; n += 1) {
      times.push(n * step);
    }
    return { times, step };
  }
}
