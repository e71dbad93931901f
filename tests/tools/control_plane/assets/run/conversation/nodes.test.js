import assert from "node:assert/strict";
import { test } from "node:test";

import { isFailed, nodesOf, thoughtOf } from "../../../../../../tools/control_plane/assets/run/conversation/nodes.js";

const text = (words) => ({ type: "text", text: words });
const call = (id, name = "execute") => ({ type: "tool_call", id, name, arguments: {} });
const result = (id, words) => ({ type: "tool_result", call_id: id, content: [text(words)] });
const said = (id, role, content, at = id) => ({ id, position: id, role, content, created_at: at });
const step = (id, at, more = {}) => ({ id: `s${id}`, tool_call_id: id, tool: "execute", status: "done", started_at: at, ...more });

const MESSAGES = [
  said(1, "user", [text("Do it.")]),
  said(2, "assistant", [{ type: "thinking", data: { thinking: "Hm." } }, text("I begin."), call("a"), call("b")]),
  said(3, "user", [result("a", "out a"), result("b", "out b")], 6),
  said(4, "assistant", [text("Done.")], 7),
];

test("messages, thinking, text and calls are in order", () => {
  const nodes = nodesOf({ messages: MESSAGES, steps: [step("a", 3), step("b", 4)] });
  assert.deepEqual(nodes.map((node) => node.kind), ["message", "thinking", "text", "call", "call", "text"]);
  assert.deepEqual(nodes.map((node) => node.key), ["m1", "m2.0", "m2.1", "m2.2", "m2.3", "m4.0"]);
  assert.deepEqual(nodes.filter((node) => node.kind === "call").map((node) => node.output), ["out a", "out b"]);
});

test("a call of a program has a card at its time", () => {
  const nodes = nodesOf({ messages: MESSAGES, steps: [step("a", 3), step("b", 4), step("x", 6.5)] });
  assert.deepEqual(nodes.map((node) => node.key), ["m1", "m2.0", "m2.1", "m2.2", "m2.3", "csx", "m4.0"]);
});

test("a call id that was used twice has a card for each step", () => {
  const again = [...MESSAGES, said(5, "assistant", [call("a")], 8)];
  const nodes = nodesOf({ messages: again, steps: [step("a", 3), step("b", 4), { ...step("a", 9), id: "s2" }] });
  const calls = nodes.filter((node) => node.kind === "call");
  assert.deepEqual(calls.map((node) => node.step.id), ["sa", "sb", "s2"]);
  assert.equal(new Set(calls.map((node) => node.key)).size, 3);
});

test("a call has the same key before and after its step began", () => {
  const before = nodesOf({ messages: MESSAGES.slice(0, 2), steps: [] });
  const after = nodesOf({ messages: MESSAGES.slice(0, 2), steps: [step("a", 3), step("b", 4)] });
  assert.deepEqual(before.map((node) => node.key), after.map((node) => node.key));
});

test("without the conversation the steps remain", () => {
  const nodes = nodesOf({ messages: [], steps: [step("a", 3), step("b", 4)] });
  assert.deepEqual(nodes.map((node) => [node.kind, node.output]), [["call", null], ["call", null]]);
});

test("what people did is at its time, and their messages are not repeated", () => {
  const people = [
    { id: "1", kind: "control", by: "Ada", text: "", at: 5 },
    { id: "2", kind: "message", by: "Ada", text: "Do it.", at: 1 },
  ];
  const nodes = nodesOf({ messages: MESSAGES, steps: [step("a", 3), step("b", 4)], people });
  assert.deepEqual(nodes.map((node) => node.key), ["m1", "m2.0", "m2.1", "m2.2", "m2.3", "p1", "m4.0"]);
});

test("a reply in progress precedes what waits behind it", () => {
  const queued = { ...said(9, "user", [text("Wait.")]), position: null };
  const nodes = nodesOf({ messages: [...MESSAGES, queued], steps: [], streaming: "I am" });
  assert.deepEqual(nodes.slice(-2).map((node) => [node.kind, node.queued]), [["streaming", undefined], ["message", true]]);
});

test("a result alone and a blank text are no node", () => {
  const messages = [said(1, "user", [result("a", "x")]), said(2, "assistant", [text("  "), { type: "compaction", data: {} }])];
  assert.deepEqual(nodesOf({ messages, steps: [] }).map((node) => node.kind), ["summary"]);
});

test("a message of a picture alone has a node", () => {
  const messages = [said(1, "user", [{ type: "picture", file_id: "f1" }])];
  assert.equal(nodesOf({ messages, steps: [] })[0].files.length, 1);
});

test("each provider's form of a thought is read", () => {
  assert.equal(thoughtOf({ data: { thinking: "a" } }), "a");
  assert.equal(thoughtOf({ data: { summary: [{ text: "b" }, {}] } }), "b\n\n");
  assert.equal(thoughtOf({ data: { parts: [{ text: "c" }] } }), "c");
  assert.equal(thoughtOf({ data: {} }), "");
});

test("a failed call begins open", () => {
  assert.ok(isFailed({ step: step("a", 1, { error: "No." }) }));
  assert.ok(isFailed({ step: step("a", 1, { status: "failed" }) }));
  assert.ok(!isFailed({ step: step("a", 1) }));
  assert.ok(!isFailed({ step: null }));
});
