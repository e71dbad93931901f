// Marks of steps on a time line: marks that would touch each other become a density band. Pure.
import { TimeScale } from "./time_scale.js";

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {{x: number, end: number, steps: ShownStep[], failed: number}} Mark  pixels; a band has several steps */

// Marks that are closer could be neither told apart nor hit.
export const LEAST_DISTANCE = 6;

/**
 * @param {ShownStep[]} steps with a time in the video, in its order
 * @param {TimeScale} scale
 * @return {Mark[]} those that are visible
 */
export function marksOf(steps, scale) {
  /** @type {Mark[]} */
  const found = [];
  for (const step of steps) {
    if (step.video_start === null || step.video_start < scale.from || step.video_start > scale.to) {
      continue;
    }
    const x = scale.x(step.video_start);
    const failed = step.error || step.status === "failed" ? 1 : 0;
    const last = found.at(-1);
    if (last && x - last.end < LEAST_DISTANCE) {
      last.end = x;
      last.steps.push(step);
      last.failed += failed;
    } else {
      found.push({ x, end: x, steps: [step], failed });
    }
  }
  return found;
}

/** Heights of a band's bars, from 0 to 1: how many steps each `bar` pixels have. @param {Mark} mark @param {TimeScale} scale @param {number} [bar] */
export function densityOf(mark, scale, bar = LEAST_DISTANCE) {
  const bars = new Array(Math.max(1, Math.ceil((mark.end - mark.x) / bar))).fill(0);
  for (const step of mark.steps) {
    const place = Math.floor((scale.x(step.video_start ?? 0) - mark.x) / bar);
    bars[Math.min(bars.length - 1, Math.max(0, place))] += 1;
  }
  const most = Math.max(...bars);
  return bars.map((count) => count / most);
}
