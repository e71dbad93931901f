// The agents that a chat started, in the cards of the calls that started them or waited for them.

const CHILD_TOOLS = new Set(["spawn_computer_use_agent", "spawn_agent", "wait_agent", "wait_agents"]);

/**
 * The ids of the children that a call names: in its arguments, or in what it returned.
 *
 * @param {import("./nodes.js").ConversationNode} node @returns {string[]}
 */
export function childIdsOf({ call, step, output }) {
  const tool = step?.tool || call?.name;
  if (!CHILD_TOOLS.has(tool)) {
    return [];
  }
  const args = step?.arguments || call?.arguments || {};
  const named = [args.chat_id, ...(Array.isArray(args.chat_ids) ? args.chat_ids : [])];
  const returned = /"chat_id":\s*"([\w-]+)"/.exec(output || "");
  return [...new Set([...named, returned?.[1]].filter((id) => typeof id === "string" && id))];
}
