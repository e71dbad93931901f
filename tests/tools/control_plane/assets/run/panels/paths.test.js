import assert from "node:assert/strict";
import { test } from "node:test";
import { absolutePath, crumbsOf, folderOf, nameOf, storedCopy } from "../../../../../../tools/control_plane/assets/run/panels/paths.js";

test("the working directory stands for the folders above it", () => {
  const names = (path) => crumbsOf(path, "/home/d", "Working").map(({ name }) => name);
  assert.deepEqual(names("/home/d/a/b"), ["/", "Working", "a", "b"]);
  assert.deepEqual(names("/home/d"), ["/", "Working"]);
  assert.deepEqual(names("/etc/x"), ["/", "etc", "x"]);
  assert.deepEqual(names("/"), ["/"]);
  assert.equal(crumbsOf("/home/d/a", "/home/d", "Working").at(-1).path, "/home/d/a");
});

test("a path has a folder and a name", () => {
  assert.equal(folderOf("/a/b.txt"), "/a");
  assert.equal(folderOf("/b.txt"), "/");
  assert.equal(nameOf("/a/b.txt"), "b.txt");
});

test("a relative path is in the working directory", () => {
  assert.equal(absolutePath("a/b", "/home"), "/home/a/b");
  assert.equal(absolutePath("./b", "/"), "/b");
  assert.equal(absolutePath("/b", "/home"), "/b");
});

test("the newest stored copy of a file is found by its path", () => {
  const files = [
    { id: "1", kind: "attachment", metadata: { path: "/home/a/report.md" } },
    { id: "2", kind: "recording" },
    { id: "3", kind: "attachment", metadata: { path: "/home/a/report.md" } },
    { id: "4", kind: "attachment", metadata: { path: "/home/a/my-report.md" } },
  ];
  assert.equal(storedCopy(files, "report.md").id, "3");
  assert.equal(storedCopy(files, "/home/a/report.md").id, "3");
  assert.equal(storedCopy(files, "other.md"), null);
});
