import assert from "node:assert/strict";
import { test } from "node:test";

import { runQuery } from "../../../../../tools/control_plane/assets/runs/query.js";

const seconds = (year, month, day) => new Date(year, month - 1, day).getTime() / 1000;

test("days become the midnights around them, other fields stay", () => {
  const query = runQuery([["q", "two words"], ["since", "2026-11-29"], ["until", "2026-11-30"]]);
  assert.deepEqual(Object.fromEntries(query), {
    q: "two words",
    since: String(seconds(2026, 11, 29)),
    until: String(seconds(2026, 12, 1)),
  });
});

test("a day that cannot be read is left out", () => {
  assert.equal(runQuery([["since", "yesterday"], ["model", "m"]]).toString(), "model=m");
});
