// The filter of the list of runs as parameters of the API. No DOM.

// Days of the filter, each with what is added to it: the last day belongs to the list.
const DAYS = new Map([["since", 0], ["until", 1]]);

/**
 * Unix seconds of the midnight that begins a day of this browser's time zone.
 *
 * @param {string} day as in 2026-11-23
 * @param {number} later days after it
 */
function midnight(day, later) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).getTime() / 1000;
}

/**
 * @param {Iterable<[string, string]>} filter names and values as in the page's address
 * @returns {URLSearchParams} the same for the API; a day that cannot be read is left out
 */
export function runQuery(filter) {
  const query = new URLSearchParams();
  for (const [name, value] of filter) {
    const later = DAYS.get(name);
    const sent = later === undefined ? value : midnight(value, later);
    if (!Number.isNaN(sent)) {
      query.set(name, String(sent));
    }
  }
  return query;
}
