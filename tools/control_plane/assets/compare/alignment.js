// Which steps of two runs belong together, and which moments of their videos. Pure.
//
// Steps are aligned like the lines of two files: in their order, so that the sum of what they have
// in common is largest (Needleman and Wunsch, without a price for a gap). Steps of the same action
// have something in common, those with the same arguments twice as much.

/** @typedef {Pick<Step, "id" | "tool" | "action" | "arguments" | "error" | "video_start">} ComparedStep */
/** @typedef {"same" | "changed" | "onlyA" | "onlyB"} Kind */
/** @typedef {{kind: Kind, a: number | null, b: number | null}} Pair  indexes of the steps */

// Two people do not click at the same pixel either.
const NEAR = 12;
const SAME = 2;
const SIMILAR = 1;
// 500 steps of each run that differ: some 20 ms. Longer middles are paired by their places.
const MOST_CELLS = 250_000;

/** @param {unknown} one @param {unknown} other @returns {boolean} */
function equal(one, other) {
  if (typeof one === "number" && typeof other === "number") {
    return Math.abs(one - other) <= NEAR;
  }
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") {
    return one === other;
  }
  const [left, right] = [/** @type {Arguments} */ (one), /** @type {Arguments} */ (other)];
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => name in right && equal(left[name], right[name]));
}

/** @param {ComparedStep} a @param {ComparedStep} b */
export function likeness(a, b) {
  if ((a.action || a.tool) !== (b.action || b.tool)) {
    return 0;
  }
  return Boolean(a.error) === Boolean(b.error) && equal(a.arguments ?? {}, b.arguments ?? {}) ? SAME : SIMILAR;
}

/**
 * @param {readonly ComparedStep[]} a
 * @param {readonly ComparedStep[]} b
 * @returns {Pair[]} in their order; each step is in one of them
 */
export function aligned(a, b) {
  const same = (/** @type {number} */ i, /** @type {number} */ j) => likeness(a[i], b[j]) === SAME;
  let begin = 0;
  while (begin < a.length && begin < b.length && same(begin, begin)) {
    begin += 1;
  }
  let tail = 0;
  while (tail < a.length - begin && tail < b.length - begin && same(a.length - 1 - tail, b.length - 1 - tail)) {
    tail += 1;
  }
  /** @type {Pair[]} */
  const pairs = [];
  for (let i = 0; i < begin; i += 1) {
    pairs.push({ kind: "same", a: i, b: i });
  }
  pairs.push(...middle(a, b, begin, a.length - tail, b.length - tail));
  for (let i = tail; i > 0; i -= 1) {
    pairs.push({ kind: "same", a: a.length - i, b: b.length - i });
  }
  return pairs;
}

/** @param {readonly ComparedStep[]} a @param {readonly ComparedStep[]} b @param {number} begin @param {number} endA @param {number} endB @returns {Pair[]} */
function middle(a, b, begin, endA, endB) {
  const [rows, columns] = [endA - begin, endB - begin];
  if (rows * columns > MOST_CELLS) {
    return byPlace(a, b, begin, endA, endB);
  }
  const width = columns + 1;
  const best = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const like = likeness(a[begin + i], b[begin + j]);
      const both = like ? like + best[(i + 1) * width + j + 1] : 0;
      best[i * width + j] = Math.max(both, best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  /** @type {Pair[]} */
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    const like = i < rows && j < columns ? likeness(a[begin + i], b[begin + j]) : 0;
    if (like && best[i * width + j] === like + best[(i + 1) * width + j + 1]) {
      pairs.push({ kind: like === SAME ? "same" : "changed", a: begin + i, b: begin + j });
      [i, j] = [i + 1, j + 1];
    } else if (j >= columns || (i < rows && best[(i + 1) * width + j] >= best[i * width + j + 1])) {
      pairs.push({ kind: "onlyA", a: begin + i, b: null });
      i += 1;
    } else {
      pairs.push({ kind: "onlyB", a: null, b: begin + j });
      j += 1;
    }
  }
  return pairs;
}

/** @param {readonly ComparedStep[]} a @param {readonly ComparedStep[]} b @param {number} begin @param {number} endA @param {number} endB @returns {Pair[]} */
function byPlace(a, b, begin, endA, endB) {
  /** @type {Pair[]} */
  const pairs = [];
  for (let i = begin; i < Math.max(endA, endB); i += 1) {
    const [inA, inB] = [i < endA, i < endB];
    const kind = inA && inB ? (likeness(a[i], b[i]) === SAME ? "same" : "changed") : inA ? "onlyA" : "onlyB";
    pairs.push({ kind, a: inA ? i : null, b: inB ? i : null });
  }
  return pairs;
}

/** The place of the first pair that differs; -1 without one. @param {readonly Pair[]} pairs */
export function firstDifference(pairs) {
  return pairs.findIndex(({ kind }) => kind !== "same");
}

/**
 * Moments that belong together: the begins of both videos, of the steps of each pair, and both ends.
 *
 * @param {readonly Pair[]} pairs
 * @param {readonly ComparedStep[]} a
 * @param {readonly ComparedStep[]} b
 * @param {number} endA seconds of the run video
 * @param {number} endB
 * @returns {[number, number][]} in order; neither column goes back
 */
export function anchors(pairs, a, b, endA, endB) {
  /** @type {[number, number][]} */
  const found = [[0, 0]];
  for (const pair of pairs) {
    const one = pair.a === null ? null : a[pair.a].video_start;
    const other = pair.b === null ? null : b[pair.b].video_start;
    const last = found[found.length - 1];
    if (typeof one === "number" && typeof other === "number" && one > last[0] && other > last[1] && one < endA && other < endB) {
      found.push([one, other]);
    }
  }
  found.push([Math.max(endA, 0.001), Math.max(endB, 0.001)]);
  return found;
}

/**
 * The moment of the second video that belongs to one of the first, and how fast it passes there.
 *
 * @param {readonly [number, number][]} known as of `anchors`
 * @param {number} at
 * @returns {{at: number, rate: number}}
 */
export function following(known, at) {
  let index = 1;
  while (index < known.length - 1 && at >= known[index][0]) {
    index += 1;
  }
  const [[fromA, fromB], [toA, toB]] = [known[index - 1], known[index]];
  const rate = (toB - fromB) / Math.max(toA - fromA, 0.001);
  return { at: Math.min(toB, fromB + Math.max(0, at - fromA) * rate), rate };
}
