// The steps of a run as its recording shows them, people's control sessions among them. Pure.

/**
 * @typedef {object} ShownStep
 * @property {string} id
 * @property {string} tool
 * @property {string | null} [action]
 * @property {string} [title]
 * @property {string} label in words
 * @property {string} sentence of the agent, which the step belongs to; empty without one
 * @property {string} status
 * @property {string | null} [error]
 * @property {number} started_at
 * @property {number | null} ended_at
 * @property {number | null} video_start
 * @property {number | null} [video_end]
 * @property {Record<string, number>} [timings]
 * @property {Record<string, any>} [arguments]
 * @property {Record<string, any>} [details]
 * @property {Record<string, any> | null} [usage]
 * @property {string | null} [screenshot_file_id]
 * @property {string} [tool_call_id]
 */

/** @typedef {{index: number, title: string, text?: string, started_at: number, ended_at: number, video_start: number, video_end: number}} Session */

/**
 * The agent's sentence before each call, by the call's id.
 * @param {{content: any[]}[]} messages
 * @return {Map<string, string>}
 */
export function sentencesOf(messages) {
  /** @type {Map<string, string>} */
  const found = new Map();
  let last = "";
  for (const { content } of messages) {
    const calls = content.filter((block) => block.type === "tool_call");
    const text = content
      .filter((block) => block.type === "text")
      .map((block) => block.text)
      .join(" ")
      .replace(/\s+/g, " ")
      .trim();
    if (calls.length === 0) {
      last = content.some((block) => block.type === "tool_result") ? last : "";
      continue;
    }
    last = text || last;
    for (const call of calls) {
      found.set(call.id, last);
    }
  }
  return found;
}

/**
 * @param {any[]} steps of the chat
 * @param {Session[]} sessions of people in control
 * @param {Map<string, string>} sentences
 * @param {(step: any) => string} titled
 * @return {ShownStep[]} by their begin
 */
export function shownSteps(steps, sessions, sentences, titled) {
  const shown = steps.map((step) => ({
    ...step,
    video_start: typeof step.video_start === "number" ? step.video_start : null,
    label: titled(step),
    sentence: sentences.get(step.tool_call_id) || step.details?.reason || "",
  }));
  for (const session of sessions) {
    const more = { tool: "human", action: null, status: "done", error: null, sentence: "", details: { input: session.text } };
    shown.push({ ...session, ...more, id: `person-${Math.round(session.started_at * 1000)}`, label: session.title });
  }
  return shown.sort((a, b) => a.started_at - b.started_at);
}

/** The last step that has begun at a time. @param {ShownStep[]} steps with a time in the video, by it @param {number} time */
export function stepAt(steps, time) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle].video_start ?? Infinity) <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low ? steps[low - 1] : null;
}

/** @param {ShownStep[]} steps with a time in the video @param {number} time */
export function nextFailure(steps, time) {
  const failed = steps.filter((step) => step.error || step.status === "failed");
  return failed.find((step) => (step.video_start ?? 0) > time + 0.02) || failed[0] || null;
}
