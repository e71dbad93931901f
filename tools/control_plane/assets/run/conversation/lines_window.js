// The part of a long text that is drawn: lines of one height, and a search in them.

/**
 * The lines to draw: `from` is included, `to` is not.
 *
 * @param {{top: number, height: number, row: number, count: number, beyond?: number}} view
 */
export function linesInView({ top, height, row, count, beyond = 20 }) {
  const first = Math.floor(Math.max(0, top) / row);
  return {
    from: Math.max(0, Math.min(count, first) - beyond),
    to: Math.min(count, first + Math.ceil(height / row) + beyond),
  };
}

/** The numbers of the lines with `wanted`, without regard to case.
 *  @param {string[]} lines @param {string} wanted @returns {number[]} */
export function linesWith(lines, wanted) {
  const needle = wanted.toLowerCase();
  if (!needle) {
    return [];
  }
  return lines.flatMap((line, number) => (line.toLowerCase().includes(needle) ? [number] : []));
}

/** Lines with at most `longest` characters each; a longer one becomes several.
 *  @param {string} text @param {number} longest @returns {string[]} */
export function linesOf(text, longest) {
  const lines = text.split("\n");
  if (lines.length > 1 && lines[lines.length - 1] === "") {
    lines.pop();
  }
  return lines.flatMap((line) => {
    if (line.length <= longest) {
      return [line];
    }
    const parts = [];
    for (let at = 0; at < line.length; at += longest) {
      parts.push(line.slice(at, at + longest));
    }
    return parts;
  });
}
