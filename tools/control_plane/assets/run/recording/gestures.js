// What a person would have done with mouse and keyboard for a step, to draw it over the picture. Pure.

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {[number, number]} Place  shares of the width and the height of the screen */
/**
 * @typedef {{kind: "click", at: Place, times: number, button: string}
 *   | {kind: "point", at: Place}
 *   | {kind: "drag", path: Place[]}
 *   | {kind: "scroll", at: Place, x: number, y: number}
 *   | {kind: "keys", text: string}
 *   | {kind: "text", text: string}
 *   | null} Gesture
 */

// Model space: the size of the screenshots in which a model names points.
const MODEL = [1280, 720];
const CLICKS = { left_click: 1, right_click: 1, middle_click: 1, double_click: 2, triple_click: 3 };
/** @type {Record<string, [number, number]>} */
const DIRECTIONS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };
const KEYBOARD = new Set(["key", "hold_key", "type", "type_secret"]);

/** @param {any} place @param {number[]} size @return {Place | null} */
function share(place, size) {
  const valid = Array.isArray(place) && place.length === 2 && place.every(Number.isFinite) && size[0] > 0 && size[1] > 0;
  return valid ? [place[0] / size[0], place[1] / size[1]] : null;
}

/** The place of a step on the screen. @param {ShownStep} step @param {[number, number]} native size of the screen; zeros if it is not known */
export function placeOf(step, native) {
  return share(step.details?.native_point, native) || share(step.details?.model_point ?? step.arguments?.coordinate, MODEL);
}

/** @param {ShownStep} step @param {[number, number]} native @return {Gesture} */
export function gestureOf(step, native) {
  const name = step.action || step.tool;
  if (KEYBOARD.has(name)) {
    return { kind: name === "type" || name === "type_secret" ? "text" : "keys", text: step.label };
  }
  const at = placeOf(step, native);
  if (!at) {
    return null;
  }
  const given = step.arguments || {};
  if (name.includes("drag")) {
    const between = (given.path || []).map((/** @type {any} */ place) => share(place, MODEL));
    const path = [share(given.start_coordinate, MODEL), ...between, at].filter((place) => place !== null);
    return path.length > 1 ? { kind: "drag", path } : { kind: "click", at, times: 1, button: "left" };
  }
  if (name === "scroll") {
    const by = [Math.sign(given.scroll_x || 0), Math.sign(given.scroll_y || 0)];
    const [x, y] = by[0] || by[1] ? by : DIRECTIONS[given.scroll_direction] || [0, 1];
    return { kind: "scroll", at, x, y };
  }
  if (name === "mouse_move") {
    return { kind: "point", at };
  }
  const times = CLICKS[/** @type {keyof typeof CLICKS} */ (name)] || 1;
  return { kind: "click", at, times, button: name.split("_")[0] };
}

/**
 * The part of a screenshot around a point, a quarter of its width and height (320x180 of 1280x720).
 * @param {Place} at
 * @return {Place} its upper left corner, shares of the picture
 */
export function cropOf(at) {
  const corner = (/** @type {number} */ share) => Math.max(0, Math.min(0.75, share - 0.125));
  return [corner(at[0]), corner(at[1])];
}
