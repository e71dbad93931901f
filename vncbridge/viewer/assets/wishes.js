// What an address asks of the live view.

/**
 * `?view=only` to watch alone, `?bar=0` for the picture alone.
 *
 * @param {string} query
 */
export function wishes(query) {
  const wanted = new URLSearchParams(query);
  return { watchOnly: wanted.get("view") === "only", bare: wanted.get("bar") === "0" };
}
