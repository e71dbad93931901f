// What the details of a step draw and list, from its row: marks, stages, tokens.

/** @typedef {import("./nodes.js").Step} Step */

const DRAGS = new Set(["left_click_drag", "drag"]);
const STAGES = [
  ["act_ms", "act"],
  ["settle_ms", "settle"],
  ["capture_ms", "capture"],
  ["encode_ms", "encode"],
  ["model_ms", "model"],
];

/** @param {any} point @returns {number[] | null} */
function pointOf(point) {
  const pair = Array.isArray(point) ? point : point && [point.x, point.y];
  return pair && pair.length === 2 && pair.every(Number.isFinite) ? pair : null;
}

/**
 * The point of a step and the path of a drag, in pixels of the picture that the model saw.
 *
 * @param {Step} step @returns {{point: number[] | null, path: number[][]}}
 */
export function marksOf(step) {
  const args = step.arguments || {};
  const point = pointOf(step.details?.model_point) || pointOf(args.coordinate);
  const listed = Array.isArray(args.path) ? args.path.map(pointOf).filter(Boolean) : [];
  const start = pointOf(args.start_coordinate);
  const end = pointOf(args.coordinate) || point;
  const straight = DRAGS.has(step.action || step.tool) && start && end ? [start, end] : [];
  return { point, path: listed.length > 1 ? listed : straight };
}

/** The newest picture before a step, and its own.  @param {Step[]} steps @param {Step} step */
export function picturesOf(steps, step) {
  const at = steps.findIndex((each) => each.id === step.id);
  const earlier = steps.slice(0, Math.max(0, at)).reverse();
  return {
    before: earlier.find((each) => each.screenshot_file_id)?.screenshot_file_id || null,
    after: step.screenshot_file_id || null,
  };
}

/**
 * The stages of a step with their shares of its time in percent; what they leave is "other".
 *
 * @param {Step} step @returns {{name: string, ms: number, share: number}[]}
 */
export function stagesOf(step) {
  const timings = step.timings || {};
  const stages = STAGES.map(([key, name]) => ({ name, ms: Number(timings[key]) || 0 })).filter(({ ms }) => ms > 0);
  const known = stages.reduce((sum, { ms }) => sum + ms, 0);
  const model = Number(timings.model_ms) || 0;
  // The model's time comes before the call, and is not part of its duration.
  const all = step.ended_at ? (step.ended_at - step.started_at) * 1000 + model : known;
  const total = Math.max(known, all);
  if (total - known >= 1) {
    stages.push({ name: "other", ms: total - known });
  }
  return stages.map(({ name, ms }) => ({ name, ms, share: total ? (ms / total) * 100 : 0 }));
}

/** Tokens of the request before a step: [[name, count]].  @param {Step} step @returns {[string, number][]} */
export function tokensOfStep(step) {
  return Object.entries(step.usage || {})
    .filter(([name, count]) => name.endsWith("_tokens") && Number(count) > 0)
    .map(([name, count]) => [name.replace(/_tokens$/, "").replaceAll("_", " "), Number(count)]);
}

/** The files that a step names, as it wrote them.  @param {Step} step @returns {string[]} */
export function pathsOf(step) {
  const args = step.arguments || {};
  const edits = Array.isArray(args.edits) ? args.edits : [];
  const named = [args.path, args.file_path, ...edits.map((/** @type {any} */ edit) => edit?.path ?? edit?.file_path)];
  return [...new Set(named.filter((path) => typeof path === "string" && path))];
}
