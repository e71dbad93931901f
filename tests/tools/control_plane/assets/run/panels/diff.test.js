import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFiles, coloured } from "../../../../../../tools/control_plane/assets/run/panels/diff.js";

const DIFF = `diff --git a/a b.txt b/a b.txt
index 1..2 100644
--- a/a b.txt
+++ b/a b.txt
@@ -1,2 +1,2 @@
 one
-two
+2
+++ three
diff --git a/new b/new
new file mode 100644
index 0..1
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+hello \x1b[31m
\\ No newline at end of file
diff --git a/p.png b/p.png
index 1..2 100644
Binary files a/p.png and b/p.png differ
`;

test("a diff is files with the numbers of their lines", () => {
  const files = changedFiles(DIFF);
  assert.deepEqual(
    files.map(({ path, added, removed }) => [path, added, removed]),
    [["a b.txt", 2, 1], ["new", 1, 0], ["p.png", 0, 0]],
  );
  assert.deepEqual(files[0].lines.slice(-1), ["+++ three"]);
  assert.deepEqual(files[1].lines.slice(0, 2), ["new file mode 100644", "@@ -0,0 +1 @@"]);
  assert.deepEqual(files[2].lines, ["Binary files a/p.png and b/p.png differ"]);
});

test("a sentence in place of a diff has no files", () => {
  assert.deepEqual(changedFiles("The diff is too large to show."), []);
  assert.deepEqual(changedFiles(""), []);
});

test("changed lines have the colours of a terminal, and bring none of their own", () => {
  const [, added] = changedFiles(DIFF);
  const lines = coloured(added).split("\n");
  assert.equal(lines[1], "\x1b[36m@@ -0,0 +1 @@\x1b[0m");
  assert.equal(lines[2], "\x1b[32m+hello ␛[31m\x1b[0m");
  assert.equal(lines[3], "\\ No newline at end of file");
});
