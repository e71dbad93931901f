import assert from "node:assert/strict";
import { test } from "node:test";

import { LONGEST_PIECE, piecesOf } from "../../../../../../tools/control_plane/assets/run/conversation/text_pieces.js";

test("a short text is one piece", () => {
  assert.deepEqual(piecesOf("a"), ["a"]);
  assert.deepEqual(piecesOf(""), [""]);
});

test("a long text is cut at blank lines", () => {
  assert.deepEqual(piecesOf("aaaa\n\nbbbb\ncc", 8), ["aaaa\n\n", "bbbb\ncc"]);
});

test("then at line ends, spaces, and anywhere", () => {
  assert.deepEqual(piecesOf("aaaa\nbbbbbb", 8), ["aaaa\n", "bbbbbb"]);
  assert.deepEqual(piecesOf("aaaa bbbbbb", 8), ["aaaa ", "bbbbbb"]);
  assert.deepEqual(piecesOf("a".repeat(20), 8).map((piece) => piece.length), [8, 8, 4]);
});

test("a surrogate pair stays whole", () => {
  assert.deepEqual(piecesOf("😀".repeat(6), 5), ["😀😀", "😀😀", "😀😀"]);
});

test("a fence that is cut ends and begins again", () => {
  const pieces = piecesOf("```js\nlet a;\nlet b;\n```\nEnd.", 18);
  assert.deepEqual(pieces, ["```js\nlet a;\n```", "```js\nlet b;\n```\nEnd."]);
});

test("nothing is lost of 100,000 characters", () => {
  const text = "word ".repeat(20_000);
  const pieces = piecesOf(text);
  assert.equal(pieces.join(""), text);
  assert.ok(pieces.every((piece) => piece.length <= LONGEST_PIECE));
});
