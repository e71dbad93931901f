import assert from "node:assert/strict";
import { test } from "node:test";

import { figures } from "../../../../../tools/control_plane/assets/compare/run_pair.js";

const run = (fields) => ({ state: "waiting", outcome: "done", model: "m", steps: [{}, { error: "No." }], started_at: 100, ended_at: 110, ...fields });
const usage = (tokens, cost) => ({ input_tokens: tokens, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: cost });

test("the figures of two runs are beside each other, with the factor at the larger one", () => {
  const rows = figures(run({ usage: usage(100, 0.5) }), run({ outcome: "failed", ended_at: 125, steps: [{}], usage: usage(300, 0.5) }));
  assert.deepEqual(
    rows.map(({ name, a, b, larger, factor }) => [name, a, b, larger, factor]),
    [
      ["Outcome", "Done", "Failed", "", ""],
      ["Model", "m", "m", "", ""],
      ["Steps", "2", "1", "a", "2.0 times"],
      ["Failed steps", "1", "0", "", ""],
      ["Time", "10 s", "25 s", "b", "2.5 times"],
      ["Time of the model", "0.0 s", "0.0 s", "", ""],
      ["Tokens", "100 tokens", "300 tokens", "b", "3.0 times"],
      ["Cost", "$0.50", "$0.50", "", ""],
    ],
  );
});

test("what neither run has is left out", () => {
  const names = figures(run({ model: null }), run({ model: null, usage: usage(1000, 0), started_at: null, ended_at: null, created_at: 1 })).map(({ name }) => name);
  assert.deepEqual(names, ["Outcome", "Steps", "Failed steps", "Time", "Time of the model", "Tokens"]);
});
