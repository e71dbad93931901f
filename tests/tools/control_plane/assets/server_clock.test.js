import assert from "node:assert/strict";
import { test } from "node:test";

import { compareClocks, serverNow } from "../../../../tools/control_plane/assets/server_clock.js";

test("the time is that of the service, whatever the browser's clock shows", () => {
  compareClocks(null);
  assert.ok(Math.abs(serverNow() - Date.now() / 1000) < 1);
  compareClocks(new Date(Date.now() + 3_600_000).toUTCString());
  assert.ok(Math.abs(serverNow() - Date.now() / 1000 - 3600) < 2);
});
