// Which rows of a long list are in its elements: only those that are visible, and a few beside. Pure.

const BESIDE = 6;

/**
 * @param {number} count of all rows
 * @param {number} row height, pixels
 * @param {number} top of the visible part
 * @param {number} height of the visible part
 * @return {{first: number, last: number}} half open
 */
export function visibleRows(count, row, top, height) {
  const first = Math.max(0, Math.floor(top / row) - BESIDE);
  const last = Math.min(count, Math.ceil((top + height) / row) + BESIDE);
  return { first: Math.min(first, last), last };
}

/**
 * Where to scroll, so that a row is in view: its middle in the middle of the list, or where it is.
 * @param {number} index @param {number} row @param {number} top @param {number} height
 * @return {number | null} null if it is in view
 */
export function scrolledTo(index, row, top, height) {
  const begin = index * row;
  if (begin >= top && begin + row <= top + height) {
    return null;
  }
  return Math.max(0, begin + row / 2 - height / 2);
}
