// Regions in which two pictures of the same size differ.

/** @typedef {{x: number, y: number, width: number, height: number}} Region */

const TILE = 16;
/** Noise of a lossy encoder is no change. */
const TOLERANCE = 24;

/**
 * The bounding boxes of neighbouring tiles that differ, in pixels.
 *
 * @param {Uint8ClampedArray} before  RGBA  @param {Uint8ClampedArray} after
 * @param {number} width @param {number} height @returns {Region[]}
 */
export function changedRegions(before, after, width, height) {
  const columns = Math.ceil(width / TILE);
  const rows = Math.ceil(height / TILE);
  const differs = new Uint8Array(columns * rows);
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / TILE) * columns;
    for (let x = 0; x < width; x += 1) {
      const tile = row + Math.floor(x / TILE);
      if (!differs[tile]) {
        const at = (y * width + x) * 4;
        const distance =
          Math.abs(before[at] - after[at]) + Math.abs(before[at + 1] - after[at + 1]) + Math.abs(before[at + 2] - after[at + 2]);
        differs[tile] = distance > TOLERANCE ? 1 : 0;
      }
    }
  }
  return boxesOf(differs, columns, rows).map(([left, top, right, bottom]) => ({
    x: left * TILE,
    y: top * TILE,
    width: Math.min(width, (right + 1) * TILE) - left * TILE,
    height: Math.min(height, (bottom + 1) * TILE) - top * TILE,
  }));
}

/** @param {Uint8Array} tiles @param {number} columns @param {number} rows @returns {number[][]} */
function boxesOf(tiles, columns, rows) {
  const boxes = [];
  for (let first = 0; first < tiles.length; first += 1) {
    if (tiles[first]) {
      const box = [columns, rows, 0, 0];
      const open = [first];
      tiles[first] = 0;
      while (open.length) {
        const tile = /** @type {number} */ (open.pop());
        const [x, y] = [tile % columns, Math.floor(tile / columns)];
        box[0] = Math.min(box[0], x);
        box[1] = Math.min(box[1], y);
        box[2] = Math.max(box[2], x);
        box[3] = Math.max(box[3], y);
        for (const [nx, ny] of [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]]) {
          const next = ny * columns + nx;
          if (nx >= 0 && ny >= 0 && nx < columns && ny < rows && tiles[next]) {
            tiles[next] = 0;
            open.push(next);
          }
        }
      }
      boxes.push(box);
    }
  }
  return boxes;
}
