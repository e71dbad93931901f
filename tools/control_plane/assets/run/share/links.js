// Share links among all tokens: which are a run's, and what each one shows.
import { texts } from "../../texts.js";

const words = texts.share;

/** @typedef {{id: string, name: string, scopes: string[], created_at: number, created_by: string, expires_at: number | null}} Token */

/** @type {Record<string, number>} Seconds of each choice. */
export const LIFETIMES = { hour: 3600, day: 24 * 3600, week: 7 * 24 * 3600 };

/**
 * The links of a run, newest first. A token for a whole chat or for everything is none.
 *
 * @param {Token[]} tokens
 * @param {string} run
 */
export function linksOf(tokens, run) {
  const isShared = (/** @type {string} */ scope) => scope.startsWith("run:") || /^desktop:.*:view$/.test(scope);
  return tokens
    .filter((token) => token.scopes.some((scope) => scope.startsWith(`run:${run}:`)) && token.scopes.every(isShared))
    .sort((one, other) => other.created_at - one.created_at);
}

/**
 * The scopes of a new link. `desktop` is the id of the desktop that may be watched, empty for none.
 *
 * @param {string} run
 * @param {{conversation: boolean, desktop: string}} wanted
 */
export function scopesOf(run, { conversation, desktop }) {
  return [`run:${run}:${conversation ? "conversation" : "view"}`, ...(desktop ? [`desktop:${desktop}:view`] : [])];
}

/**
 * What a link shows, in words.
 *
 * @param {Pick<Token, "scopes">} token
 */
export function shownBy({ scopes }) {
  return [
    words.usual,
    scopes.some((scope) => scope.endsWith(":conversation")) ? words.conversation : "",
    scopes.some((scope) => scope.startsWith("desktop:")) ? words.live : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/**
 * How long a link still works: "6 d", "59 min".
 *
 * @param {number} seconds
 */
export function remaining(seconds) {
  const units = /** @type {[number, (count: number) => string][]} */ ([
    [24 * 3600, texts.amounts.days],
    [3600, texts.amounts.hours],
    [60, texts.amounts.minutes],
  ]);
  for (const [length, inWords] of units) {
    if (seconds >= length) {
      return inWords(Math.floor(seconds / length));
    }
  }
  return words.soon;
}
