import assert from "node:assert/strict";
import { test } from "node:test";

import { AnsiReader, plain } from "../../../../../../tools/control_plane/assets/run/conversation/ansi.js";

const styles = (line) => new AnsiReader().line(line).map(({ text, style }) => [text, style]);

test("colours and attributes become classes", () => {
  assert.deepEqual(styles("a\x1b[1;31mb\x1b[39mc\x1b[0md"), [["a", ""], ["b", "fg1 bold"], ["c", "bold"], ["d", ""]]);
  assert.deepEqual(styles("\x1b[92;104;3;4;2mx"), [["x", "fg10 bg12 dim italic underline"]]);
  assert.deepEqual(styles("\x1b[32mx\x1b[my"), [["x", "fg2"], ["y", ""]]);
});

test("a colour lasts into the next line", () => {
  const reader = new AnsiReader();
  reader.line("\x1b[33mone");
  assert.equal(reader.line("two")[0].style, "fg3");
});

test("colours of the 256 and true colours get their nearest name", () => {
  assert.deepEqual(styles("\x1b[38;5;9ma\x1b[38;5;46mb\x1b[48;5;232mc\x1b[38;2;250;10;10md"), [
    ["a", "fg9"],
    ["b", "fg10"],
    ["c", "fg10 bg0"],
    ["d", "fg9 bg0"],
  ]);
  assert.deepEqual(["237", "243", "249", "255", "16"].map((n) => styles(`\x1b[38;5;${n}mx`)[0][1]), ["fg0", "fg8", "fg7", "fg15", "fg0"]);
});

test("other sequences and control characters are left out", () => {
  const line = "\x1b]0;title\x07a\x1b[2Kb\x1b]8;;http://x\x1b\\c\x07\x00\x1bMd\r";
  assert.deepEqual(styles(line), [["a", ""], ["b", ""], ["c", ""], ["d", ""]]);
  assert.equal(plain(line), "abcd");
});

test("broken sequences do not throw", () => {
  for (const line of ["\x1b[", "\x1b[38", "\x1b[38m", "\x1b[38;5m", "\x1b[38;2;1mx", "\x1b[999;;mx", "\x1b"]) {
    new AnsiReader().line(line);
  }
});

test("tabs stay", () => {
  assert.deepEqual(styles("a\tb"), [["a\tb", ""]]);
});
