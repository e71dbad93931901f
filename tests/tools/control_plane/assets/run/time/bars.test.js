import assert from "node:assert/strict";
import { test } from "node:test";

import { KINDS, barOf, secondsOf, shownTotals } from "../../../../../../tools/control_plane/assets/run/time/bars.js";

test("a bar shows its spans where they are in the run", () => {
  const spans = [{ kind: "model", begin: 2, end: 4 }, { kind: "action", begin: 4, end: 5 }];
  assert.equal(
    barOf(spans, 0, 10),
    "linear-gradient(90deg, transparent 0.00% 20.00%, var(--time-model) 20.00% 40.00%, " +
      "transparent 40.00% 40.00%, var(--time-action) 40.00% 50.00%, transparent 50.00%)",
  );
  assert.equal(secondsOf({ spans }), 3);
});

test("a short span is seen, and does not hide the next one", () => {
  const bar = barOf([{ kind: "queue", begin: 0, end: 0 }, { kind: "own", begin: 0, end: 1 }], 0, 1000);
  assert.match(bar, /--time-queue\) 0\.00% 0\.40%/);
  assert.match(bar, /--time-own\) 0\.40% 0\.80%/);
  assert.equal(barOf([], 0, 0), "none");
});

test("totals without time are left out, and the longest comes first", () => {
  const totals = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  assert.deepEqual(shownTotals({ ...totals, model: 2, action: 5, own: 0.01 }), [["action", 5], ["model", 2]]);
});
