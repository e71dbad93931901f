// Real time and time of the run video: the recorder shortens idle time. Pure.

/** @typedef {[number, number]} Pair  a real time (unix seconds) and its second of the run video */
/** @typedef {{from: number, to: number, real: number}} Still  a shortened stretch of the video, and its real seconds */

// Slower stretches are not worth a label.
const LEAST_FACTOR = 4;

export class TimeMap {
  /** @param {Pair[]} pairs in order */
  constructor(pairs) {
    this.pairs = pairs;
  }

  /** @param {number} real unix seconds @return {number | null} of the video; null outside of all recordings */
  video(real) {
    return between(this.pairs, real, 0, 1);
  }

  /** @param {number} video @return {number | null} unix seconds */
  real(video) {
    return between(this.pairs, video, 1, 0);
  }

  /** Stretches of the video in which real time runs at least four times as fast. @return {Still[]} */
  stills() {
    /** @type {Still[]} */
    const found = [];
    for (let i = 1; i < this.pairs.length; i += 1) {
      const [real0, video0] = this.pairs[i - 1];
      const [real1, video1] = this.pairs[i];
      if (video1 <= video0 || real1 - real0 <= LEAST_FACTOR * (video1 - video0)) {
        continue;
      }
      const last = found.at(-1);
      if (last && Math.abs(last.to - video0) < 1e-6) {
        last.to = video1;
        last.real += real1 - real0;
      } else {
        found.push({ from: video0, to: video1, real: real1 - real0 });
      }
    }
    return found;
  }
}

/** @param {Pair[]} pairs @param {number} value @param {0 | 1} by @param {0 | 1} wanted @return {number | null} */
function between(pairs, value, by, wanted) {
  const last = pairs.length - 1;
  if (last < 0 || value < pairs[0][by] || value > pairs[last][by]) {
    return null;
  }
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (pairs[middle][by] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const [from, to] = [pairs[low], pairs[Math.min(high, last)]];
  const share = to[by] > from[by] ? (value - from[by]) / (to[by] - from[by]) : 0;
  return from[wanted] + share * (to[wanted] - from[wanted]);
}
