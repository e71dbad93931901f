// Figures of two runs beside each other. Pure.
import { texts } from "../texts.js";
import { dollars, duration, stateOf, tokensOf, took } from "../words.js";

/** @typedef {Chat & {steps: Step[]}} ComparedRun */

/** @param {ComparedRun} chat @returns {number | null} seconds from its begin to its end */
const seconds = ({ started_at: from, ended_at: to }) => (from && to ? to - from : null);
const count = (/** @type {Usage | null | undefined} */ usage) =>
  usage ? usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens : null;
const modelSeconds = (/** @type {ComparedRun} */ { times }) => (times?.model_ms ?? 0) / 1000;

/** How much more the larger value is. @param {number | null} one @param {number | null} other */
function factor(one, other) {
  if (!one || !other || Math.max(one, other) / Math.min(one, other) < 1.1) {
    return "";
  }
  return texts.compare.times(Math.max(one, other) / Math.min(one, other));
}

/**
 * Rows of a table: a name, the words for both runs, and the factor between them.
 *
 * @param {ComparedRun} a
 * @param {ComparedRun} b
 * @returns {{name: string, a: string, b: string, larger: "a" | "b" | "", factor: string}[]}
 */
export function figures(a, b) {
  const { rows } = texts.compare;
  /** @type {[string, (chat: ComparedRun) => string | null | undefined, (chat: ComparedRun) => number | null][]} */
  const wanted = [
    [rows.outcome, (chat) => stateOf(chat)[0], () => null],
    [rows.model, (chat) => chat.model, () => null],
    [rows.steps, (chat) => String(chat.steps.length), (chat) => chat.steps.length],
    [rows.failed, (chat) => String(failed(chat)), failed],
    [rows.time, (chat) => took(chat), seconds],
    [rows.modelTime, (chat) => duration(modelSeconds(chat)), modelSeconds],
    [rows.tokens, (chat) => chat.usage && tokensOf(chat.usage), (chat) => count(chat.usage)],
    [rows.cost, (chat) => (chat.usage?.cost_usd ? dollars(chat.usage.cost_usd) : null), (chat) => chat.usage?.cost_usd ?? null],
  ];
  return wanted
    .map(([name, words, value]) => {
      const [one, other] = [value(a), value(b)];
      const times = factor(one, other);
      /** @type {"a" | "b" | ""} */
      const larger = times ? ((one ?? 0) > (other ?? 0) ? "a" : "b") : "";
      return { name, a: words(a) || "–", b: words(b) || "–", larger, factor: times };
    })
    .filter((row) => row.a !== "–" || row.b !== "–");
}

/** @param {ComparedRun} chat */
function failed(chat) {
  return chat.steps.filter((step) => step.error).length;
}
