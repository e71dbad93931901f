// Part of the picture that is shown: a pure model, without elements.
//
// The picture fills its box at scale 1. Enlarged, it is moved inside of the box, and its edges never
// come inside of the box's. Points are in CSS pixels from the corner of the box.

/** @typedef {{scale: number, left: number, top: number}} View */
/** @typedef {{x: number, y: number}} Point */
/** @typedef {{width: number, height: number, visible?: number}} Box `visible` is the height above an on-screen keyboard */

/** @type {View} */
export const WHOLE = Object.freeze({ scale: 1, left: 0, top: 0 });

/** Larger, a pixel of a 1920x1080 screen would be wider than a fingertip on a phone. */
export const MOST = 8;

const between = (/** @type {number} */ least, /** @type {number} */ value, /** @type {number} */ most) =>
  Math.max(least, Math.min(most, value));

/**
 * The view, moved so far that its edges are where they may be.
 *
 * @param {View} view
 * @param {Box} box
 * @returns {View}
 */
export function within(view, box) {
  const scale = between(1, view.scale, MOST);
  const visible = box.visible ?? box.height;
  return {
    scale,
    left: between(box.width * (1 - scale), view.left, 0) + 0,
    top: between(Math.min(0, visible - box.height * scale), view.top, 0) + 0,
  };
}

/**
 * The view after two fingers spread by `factor`: what was at `from` is at `to`.
 *
 * @param {View} view
 * @param {number} factor
 * @param {Point} from
 * @param {Point} to
 * @param {Box} box
 */
export function pinched(view, factor, from, to, box) {
  const scale = between(1, view.scale * factor, MOST);
  const grown = scale / view.scale;
  const left = to.x - (from.x - view.left) * grown;
  const top = to.y - (from.y - view.top) * grown;
  return within({ scale, left, top }, box);
}

/**
 * The view after a finger moved.
 *
 * @param {View} view
 * @param {Point} by
 * @param {Box} box
 */
export function panned(view, by, box) {
  return within({ ...view, left: view.left + by.x, top: view.top + by.y }, box);
}

/**
 * The view in which a point of the picture is above the on-screen keyboard.
 *
 * @param {View} view
 * @param {Point} point where it is in `view`
 * @param {Box} box
 */
export function revealed(view, point, box) {
  const visible = box.visible ?? box.height;
  const hidden = point.y > visible * 0.9;
  return within(hidden ? { ...view, top: view.top - (point.y - visible / 2) } : view, box);
}
