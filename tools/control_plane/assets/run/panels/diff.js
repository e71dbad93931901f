// A unified diff as files with their lines. Pure.

/** @typedef {{path: string, added: number, removed: number, lines: string[]}} ChangedFile */

const HEAD = "diff --git ";
const ADDED = "\x1b[32m";
const REMOVED = "\x1b[31m";
const PLACE = "\x1b[36m";
const END = "\x1b[0m";

/** The path in a head `diff --git a/x b/x`; renames are off, so both are the same.
 *  @param {string} line */
function pathOf(line) {
  const names = line.slice(HEAD.length);
  // Each has a prefix of two characters, and one space is between them.
  return names.slice(2, (names.length - 1) / 2);
}

/**
 * @param {string} diff
 * @returns {ChangedFile[]}
 */
export function changedFiles(diff) {
  /** @type {ChangedFile[]} */
  const files = [];
  let inHunks = false;
  for (const line of diff.split("\n")) {
    if (line.startsWith(HEAD)) {
      files.push({ path: pathOf(line), added: 0, removed: 0, lines: [] });
      inHunks = false;
      continue;
    }
    const file = files.at(-1);
    if (!file) {
      continue;
    }
    inHunks ||= line.startsWith("@@");
    if (inHunks) {
      file.added += Number(line.startsWith("+"));
      file.removed += Number(line.startsWith("-"));
    }
    // Before the hunks stand modes and names, of which only these add something.
    if (inHunks || /^(Binary|new file|deleted file|old mode|new mode)/.test(line)) {
      file.lines.push(line);
    }
  }
  for (const { lines } of files) {
    if (lines.at(-1) === "") {
      lines.pop();
    }
  }
  return files;
}

/** The lines of a file in the colours of a terminal.  @param {ChangedFile} file */
export function coloured({ lines }) {
  const colour = (/** @type {string} */ line) => ({ "+": ADDED, "-": REMOVED, "@": PLACE })[line[0]];
  return lines
    .map((line) => {
      const plain = line.replaceAll("\x1b", "␛");
      const start = colour(line);
      return start ? `${start}${plain}${END}` : plain;
    })
    .join("\n");
}
