// The rows of the list of steps: filtered, and grouped by the agent's sentence. Pure.

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {{text: string, tool: string, failed: boolean, span: {from: number, to: number} | null}} StepFilter */
/** @typedef {{kind: "group", key: string, text: string, count: number} | {kind: "step", key: string, step: ShownStep, number: number}} Row */

/** @type {StepFilter} */
export const EVERYTHING = { text: "", tool: "", failed: false, span: null };

/** @param {ShownStep} step */
export const toolOf = (step) => step.action || step.tool;

/** The tools of steps by their names, each with its number of steps. @param {ShownStep[]} steps @return {[string, number][]} */
export function toolsOf(steps) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const step of steps) {
    counts.set(toolOf(step), (counts.get(toolOf(step)) || 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

/** @param {ShownStep} step @param {StepFilter} filter */
export function fits(step, { text, tool, failed, span }) {
  if (failed && !step.error && step.status !== "failed") {
    return false;
  }
  if (tool && toolOf(step) !== tool) {
    return false;
  }
  if (span && (step.video_start === null || step.video_start > span.to || (step.video_end ?? step.video_start) < span.from)) {
    return false;
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = words.length ? `${step.label} ${toolOf(step)} ${step.error || ""} ${step.sentence}`.toLowerCase() : "";
  return words.every((word) => whole.includes(word));
}

/** @param {ShownStep[]} steps in their order @param {StepFilter} filter @return {Row[]} */
export function rowsOf(steps, filter) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {Extract<Row, {kind: "group"}> | null} */
  let group = null;
  steps.forEach((step, index) => {
    if (!fits(step, filter)) {
      return;
    }
    if (step.sentence && (!group || group.text !== step.sentence)) {
      group = { kind: "group", key: `group-${step.id}`, text: step.sentence, count: 0 };
      rows.push(group);
    } else if (!step.sentence) {
      group = null;
    }
    if (group) {
      group.count += 1;
    }
    rows.push({ kind: "step", key: step.id, step, number: index + 1 });
  });
  return rows;
}
