// The clock of the service, as its answers show it: the browser's own clock may be wrong.

/** Seconds by which the service's clock is ahead of the browser's. */
let ahead = 0;

/** @param {string | null} date  the header `Date` of an answer that has just arrived */
export function compareClocks(date) {
  const difference = (Date.parse(date ?? "") - Date.now()) / 1000;
  // The header has whole seconds, and the answer was on the way.
  if (Math.abs(difference) > 5) {
    ahead = difference;
  }
}

/** The time of the service, in unix seconds. */
export const serverNow = () => Date.now() / 1000 + ahead;
