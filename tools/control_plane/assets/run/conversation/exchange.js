// What a chat's messages know of one call: the text and the thinking before it, and its result.
import { textOf, thoughtOf } from "./nodes.js";

/**
 * @param {import("./nodes.js").ChatMessage[]} messages @param {string} callId
 * @returns {{said: string, thought: string, received: string | null}}
 */
export function exchangeOf(messages, callId) {
  /** @type {{said: string, thought: string, received: string | null}} */
  const found = { said: "", thought: "", received: null };
  for (const { content } of messages) {
    const calls = content.filter((block) => block.type === "tool_call");
    const call = calls.find((each) => each.id === callId);
    if (call) {
      found.said = textOf(content) || call.reason || "";
      found.thought = content.filter((block) => block.type === "thinking").map(thoughtOf).filter(Boolean).join("\n\n");
    }
    const result = content.find((block) => block.type === "tool_result" && block.call_id === callId);
    if (result) {
      found.received = textOf(result.content);
    }
  }
  return found;
}
