import assert from "node:assert/strict";
import { test } from "node:test";

import { texts } from "../../../../tools/control_plane/assets/texts.js";
import { ago, clock, dollars, duration, size, stateOf, stepTitle, timesOf, tokensOf } from "../../../../tools/control_plane/assets/words.js";

test("a duration has the two units that count", () => {
  assert.deepEqual([4.123, 59.6, 75.2, 7325].map((each) => duration(each)), ["4.1 s", "1 min 0 s", "1 min 15 s", "2 h 2 min"]);
  assert.equal(duration(null), "");
});

test("a clock shows hours only when there are some", () => {
  assert.deepEqual([clock(75.9), clock(3725), clock(75.26, true)], ["1:15", "1:02:05", "1:15.3"]);
});

test("a tenth is never rounded to the tenth second of a second", () => {
  assert.equal(clock(59.97, true), "1:00.0");
});

test("a past time is relative within a day", () => {
  assert.deepEqual([ago(100, 120), ago(0, 300), ago(0, 7200)], ["just now", "5 minutes ago", "2 hours ago"]);
});

test("a size has decimal units", () => {
  assert.deepEqual([size(999), size(1000), size(25e6), size(3e9)], ["999 B", "1.0 kB", "25 MB", "3.0 GB"]);
});

test("a cost keeps two digits below ten cents", () => {
  assert.deepEqual([0, 12.3, 0.0142, 0.00001].map((each) => dollars(each)), ["$0.00", "$12.30", "$0.014", "<$0.0001"]);
});

test("a chat at rest is named by its outcome", () => {
  assert.deepEqual(stateOf({ state: "waiting", outcome: "partly" }), ["Partly done", "warn"]);
  assert.deepEqual(stateOf({ state: "requires_action", outcome: null }), ["Needs a person", "warn"]);
  assert.deepEqual(stateOf({ state: "new state", outcome: null }), ["new state", "quiet"]);
});

test("a step whose arguments do not fit keeps its title", () => {
  const step = { id: "s", tool: "computer", action: "left_click", title: "Left click", status: "ok", started_at: 0 };
  assert.equal(stepTitle({ ...step, arguments: { coordinate: [3, 4] } }), "Click at 3, 4");
  assert.equal(stepTitle(step), "Left click");
  assert.equal(stepTitle({ tool: "save_it", title: "save_it: a.txt" }), "Save it: a.txt");
  assert.equal(stepTitle({ tool: "save_it" }), "Save it");
});

test("each title that takes an object has the argument that is its object", () => {
  const args = ["text", "command", "path", "name", "tool_name", "server", "reason", "prompt", "message", "url", "query", "pattern"];
  const full = { ...Object.fromEntries(args.map((name) => [name, "it"])), coordinate: [1, 2] };
  for (const [tool, words] of Object.entries(texts.steps)) {
    assert.notEqual(stepTitle({ tool, title: "its own", arguments: full }), "its own", tool);
    assert.equal(typeof words === "string", stepTitle({ tool, title: "", arguments: {} }) === words, tool);
  }
  assert.equal(stepTitle({ tool: "scroll", arguments: { scroll_direction: "down", coordinate: [1, 2] } }), "Scroll down at 1, 2");
});

test("times leave out what took none", () => {
  assert.deepEqual(timesOf({ model_ms: 1200, act_ms: 4, settle_ms: 100, own_ms: 0 }), ["model 1.2 s", "desktop 104 ms"]);
});

test("tokens name the share from the cache", () => {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_tokens: 90, cache_write_tokens: 0 };
  assert.match(tokensOf(usage) ?? "", /^105 tokens, 90 % of input cached$/);
});
