// The bars of a waterfall: each row is one background, however many spans it has. Pure.

/** @typedef {{kind: string, begin: number, end: number}} TimeSpan  seconds since the run began */
/** @typedef {{index: number | null, id: string, title: string, what: string, failed: boolean, spans: TimeSpan[]}} WaterfallRow */

/** Kinds of time in the order in which they are shown. */
export const KINDS = ["model", "action", "settle", "commands", "person", "waiting", "queue", "own"];

// A shorter span would not be seen.
const LEAST_PERCENT = 0.4;

/** The seconds of a row. @param {{spans: TimeSpan[]}} row */
export function secondsOf({ spans }) {
  return spans.reduce((sum, span) => sum + span.end - span.begin, 0);
}

/**
 * A gradient that shows spans where they are in the whole time, with the colours `--time-KIND`.
 *
 * @param {TimeSpan[]} spans in their order
 * @param {number} from the first second that is shown
 * @param {number} to the last one
 */
export function barOf(spans, from, to) {
  const whole = Math.max(to - from, 0.001);
  const stops = [];
  let at = 0;
  for (const { kind, begin, end } of spans) {
    const left = Math.max(at, (100 * (begin - from)) / whole);
    const right = Math.max(left + LEAST_PERCENT, (100 * (end - from)) / whole);
    stops.push(`transparent ${at.toFixed(2)}% ${left.toFixed(2)}%`, `var(--time-${kind}) ${left.toFixed(2)}% ${right.toFixed(2)}%`);
    at = right;
  }
  return stops.length ? `linear-gradient(90deg, ${stops.join(", ")}, transparent ${at.toFixed(2)}%)` : "none";
}

/**
 * The kinds that took time, the longest first.
 *
 * @param {Record<string, number>} totals seconds by kind
 * @returns {[string, number][]}
 */
export function shownTotals(totals) {
  return Object.entries(totals).filter(([, seconds]) => seconds >= 0.05).sort((one, other) => other[1] - one[1]);
}
