// Pieces of a long text, each small enough to be drawn at once without a delay that a person notices.

export const LONGEST_PIECE = 4000;

/**
 * Cuts a text at blank lines, else at line ends, else anywhere. A cut inside of a fenced block ends the
 * fence in the one piece and begins it again in the other.
 *
 * @param {string} text @param {number} [longest] @returns {string[]}
 */
export function piecesOf(text, longest = LONGEST_PIECE) {
  const pieces = [];
  let rest = text;
  let fence = "";
  while (rest.length > longest) {
    const end = cutOf(rest, longest);
    const part = rest.slice(0, end);
    const open = fenceAfter(part, fence);
    pieces.push(framed(part, fence, open));
    fence = open;
    rest = rest.slice(end);
  }
  if (rest || !pieces.length) {
    pieces.push(framed(rest, fence, ""));
  }
  return pieces;
}

/** @param {string} text @param {number} longest */
function cutOf(text, longest) {
  for (const end of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(end, longest - end.length);
    // A piece that is almost empty would make many of them.
    if (at > longest / 4) {
      return at + end.length;
    }
  }
  // Never between the halves of a surrogate pair.
  const code = text.charCodeAt(longest - 1);
  return code >= 0xd800 && code <= 0xdbff ? longest - 1 : longest;
}

/** The fence that is open after a piece: "```" with its language, or empty.
 *  @param {string} part @param {string} open */
function fenceAfter(part, open) {
  let fence = open;
  for (const [, marks, language] of part.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (!fence) {
      fence = marks + language;
    } else if (fence.startsWith(marks.slice(0, 3)) && !language.trim()) {
      fence = "";
    }
  }
  return fence;
}

/** @param {string} part @param {string} before @param {string} after */
function framed(part, before, after) {
  const marks = /^[`~]+/.exec(after)?.[0] || "";
  return `${before && `${before}\n`}${part}${after && `${part.endsWith("\n") ? "" : "\n"}${marks}`}`;
}
