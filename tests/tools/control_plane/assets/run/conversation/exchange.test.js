import assert from "node:assert/strict";
import { test } from "node:test";

import { exchangeOf } from "../../../../../../tools/control_plane/assets/run/conversation/exchange.js";

test("a call has its text, its thinking and its result", () => {
  const call = { type: "tool_call", id: "a", name: "execute", arguments: {}, reason: "To see." };
  const result = { type: "tool_result", call_id: "a", content: [{ type: "text", text: "out" }] };
  const messages = [
    { content: [{ type: "thinking", data: { thinking: "Hm." } }, { type: "text", text: "I begin." }, call] },
    { content: [result] },
  ];
  assert.deepEqual(exchangeOf(messages, "a"), { said: "I begin.", thought: "Hm.", received: "out" });
  assert.deepEqual(exchangeOf([{ content: [call] }], "a"), { said: "To see.", thought: "", received: null });
  assert.deepEqual(exchangeOf(messages, "b"), { said: "", thought: "", received: null });
});
