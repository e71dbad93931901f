// The lanes of a time line: what the time of each step was spent on. Pure.
import { TimeMap } from "./time_map.js";

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {"model" | "action" | "settle" | "waiting" | "person"} Lane */
/** @typedef {{lane: Lane, from: number, to: number, failed: boolean}} LaneSpan  seconds of the run video */

/** @type {Lane[]} */
export const LANES = ["model", "action", "settle", "waiting", "person"];
const WAITING = new Set(["wait", "wait_for", "wait_agent", "request_human"]);

/** Seconds of a step by what they were spent on. @param {ShownStep} step @return {Record<Lane, number>} */
export function secondsOf(step) {
  const found = { model: 0, action: 0, settle: 0, waiting: 0, person: 0 };
  const stage = (/** @type {string} */ name) => (step.timings?.[`${name}_ms`] || 0) / 1000;
  const all = step.ended_at ? Math.max(0, step.ended_at - step.started_at) : 0;
  if (step.tool === "human") {
    return { ...found, person: all };
  }
  found.model = stage("model");
  if (WAITING.has(step.action || step.tool)) {
    return { ...found, waiting: all };
  }
  found.waiting = Math.min(all, stage("queue"));
  found.settle = Math.min(all - found.waiting, stage("settle") + stage("capture") + stage("encode"));
  found.action = all - found.waiting - found.settle;
  return found;
}

/**
 * @param {ShownStep[]} steps in their order
 * @param {TimeMap} times
 * @return {LaneSpan[]}
 */
export function laneSpans(steps, times) {
  /** @type {LaneSpan[]} */
  const spans = [];
  /** @param {Lane} lane @param {number} begin @param {number} end unix seconds @param {boolean} failed */
  const add = (lane, begin, end, failed) => {
    const from = times.video(begin);
    const to = times.video(end);
    if (from !== null && to !== null && end > begin) {
      spans.push({ lane, from, to, failed });
    }
  };
  let free = -Infinity;
  for (const step of steps) {
    const parts = secondsOf(step);
    const failed = Boolean(step.error);
    // The model of this step worked after the step before it had ended.
    add("model", Math.max(free, step.started_at - parts.model), step.started_at, false);
    let at = step.started_at;
    for (const lane of /** @type {Lane[]} */ (["waiting", "action", "settle", "person"])) {
      add(lane, at, at + parts[lane], failed);
      at += parts[lane];
    }
    free = Math.max(free, step.tool === "human" ? free : at);
  }
  return spans;
}
