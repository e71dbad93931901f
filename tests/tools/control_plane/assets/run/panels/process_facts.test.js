import assert from "node:assert/strict";
import { test } from "node:test";
import { processState, tail, uptime } from "../../../../../../tools/control_plane/assets/run/panels/process_facts.js";

const words = { running: "Running", exited: (code) => `Exit ${code}`, killed: (signal) => `Ended by ${signal}` };
const process = (fields) => ({ id: "p", command: "make", workdir: "/", running: false, started_at_unix: 100, ...fields });

test("a process runs, has exited, or was ended by a signal", () => {
  assert.deepEqual(processState(process({ running: true }), words), ["Running", "busy"]);
  assert.deepEqual(processState(process({ exit_code: 0 }), words), ["Exit 0", "good"]);
  assert.deepEqual(processState(process({ exit_code: 2 }), words), ["Exit 2", "bad"]);
  assert.deepEqual(processState(process({ exit_code: 143, signal: "SIGTERM" }), words), ["Ended by SIGTERM", "warn"]);
});

test("the run time ends with the process", () => {
  assert.equal(uptime(process({ running: true }), 104.7), "4 s");
  assert.equal(uptime(process({ running: true }), 175), "1 min 15 s");
  assert.equal(uptime(process({ exited_at_unix: 100 }), 900), "< 1 s");
  assert.equal(uptime(process({}), 900), "< 1 s");
});

test("the tail has the last lines, and all of a short output", () => {
  assert.equal(tail("a\nb\nc\n", 2), "b\nc\n");
  assert.equal(tail("a\nb\nc", 2), "b\nc");
  assert.equal(tail("a\nb\n", 2), "a\nb\n");
  assert.equal(tail("\nb\n", 1), "b\n");
  assert.equal(tail("", 3), "");
});
