// State, run time and last output of a process, as its row shows them. Pure.
import { texts } from "../../texts.js";
import { duration } from "../../words.js";

/**
 * @typedef {{id: string, name?: string, command: string, workdir: string, background?: boolean, running: boolean,
 *   started_at_unix: number, exited_at_unix?: number, exit_code?: number, signal?: string}} Process
 */

/**
 * [word, tone] of a process.
 *
 * @param {Process} process
 * @param {{running: string, exited: (code: number) => string, killed: (signal: string) => string}} words
 * @returns {[string, Tone]}
 */
export function processState({ running, exit_code: code, signal }, words) {
  if (running) {
    return [words.running, "busy"];
  }
  if (signal) {
    return [words.killed(signal), "warn"];
  }
  return [words.exited(code ?? 0), code ? "bad" : "good"];
}

/**
 * How long a process runs, or ran.
 *
 * @param {Process} process
 * @param {number} now  unix time in seconds
 */
export function uptime({ started_at_unix: from, exited_at_unix: to, running }, now) {
  // The times are whole seconds.
  const whole = Math.floor((running ? now : (to ?? from)) - from);
  if (whole < 1) {
    return texts.amounts.noSecond;
  }
  return whole < 10 ? texts.amounts.seconds(whole) : duration(whole);
}

/**
 * The last lines of an output.
 *
 * @param {string} text
 * @param {number} count
 */
export function tail(text, count) {
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < count; line += 1) {
    at = text.lastIndexOf("\n", at - 1);
    if (at <= 0) {
      return at === 0 && line === count - 1 ? text.slice(1) : text;
    }
  }
  return text.slice(at + 1);
}
