// The nodes of a conversation: what a chat's messages, steps and people's activities are on the page.
//
// The nodes follow from the stored rows alone. So a page that was open from the start and a page that
// was opened later have the same nodes, with the same keys in the same order. Only the text of a reply
// that the model has not completed is on the open page alone, as the last node.

/**
 * @typedef {{type: string, [name: string]: any}} Block
 * @typedef {{id: number, position: number | null, role: string, content: Block[], created_at: number, queued?: boolean}} ChatMessage
 * @typedef {{id: string, tool_call_id: string, tool: string, status: string, started_at: number, [name: string]: any}} Step
 * @typedef {{id: string, kind: string, by: string, text: string, at: number, [name: string]: any}} Activity
 * @typedef {{kind: string, key: string, at: number, text?: string, queued?: boolean, by?: string, files?: Block[],
 *   call?: Block | null, step?: Step | null, output?: string | null, activity?: Activity}} ConversationNode
 */

/** The text of a thinking block; each provider has a form of its own, and may keep it secret.
 *  @param {Block} block */
export function thoughtOf({ data }) {
  if (typeof data.thinking === "string") {
    return data.thinking;
  }
  const parts = data.summary || data.parts || [];
  return parts.map((/** @type {any} */ part) => part.text || "").join("\n\n");
}

/** @param {Block[]} blocks */
export function textOf(blocks) {
  return blocks
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

/** The texts of results by the id of their call.  @param {ChatMessage[]} messages */
export function outputsOf(messages) {
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === "tool_result") {
        found.set(block.call_id, textOf(block.content));
      }
    }
  }
  return found;
}

/** @param {ChatMessage} message @returns {ConversationNode[]} */
function nodesOfPerson(message) {
  const text = textOf(message.content);
  const files = message.content.filter((block) => block.type === "picture");
  if (!text && !files.length) {
    return [];
  }
  return [{ kind: "message", key: `m${message.id}`, at: message.created_at, text, files, queued: message.position === null }];
}

/**
 * @param {ChatMessage} message
 * @param {Map<string, Step[]>} steps  the steps that no message has named yet, by their call
 * @param {Map<string, string>} outputs
 * @returns {ConversationNode[]}
 */
function nodesOfAgent(message, steps, outputs) {
  const at = message.created_at;
  /** @type {ConversationNode[]} */
  const nodes = [];
  message.content.forEach((block, index) => {
    const key = `m${message.id}.${index}`;
    if (block.type === "text" && block.text.trim()) {
      nodes.push({ kind: "text", key, at, text: block.text });
    } else if (block.type === "thinking" && thoughtOf(block)) {
      nodes.push({ kind: "thinking", key, at, text: thoughtOf(block) });
    } else if (block.type === "compaction") {
      nodes.push({ kind: "summary", key, at });
    } else if (block.type === "tool_call") {
      const step = steps.get(block.id)?.shift() || null;
      // The step of a call begins after the call was stored, and its card is on the page already.
      nodes.push({ kind: "call", key, at: step?.started_at ?? at, call: block, step, output: outputs.get(block.id) ?? null });
    }
  });
  return nodes;
}

/**
 * The nodes in their order.
 *
 * @param {{messages: ChatMessage[], steps: Step[], people?: Activity[], streaming?: string}} state
 * @returns {ConversationNode[]}
 */
export function nodesOf({ messages, steps, people = [], streaming = "" }) {
  const outputs = outputsOf(messages);
  /** @type {Map<string, Step[]>} */
  const left = new Map();
  for (const step of steps) {
    left.set(step.tool_call_id, [...(left.get(step.tool_call_id) || []), step]);
  }
  const stored = messages.filter((message) => message.position !== null);
  const written = stored.flatMap((message) =>
    message.role === "user" ? nodesOfPerson(message) : nodesOfAgent(message, left, outputs),
  );
  const besides = [
    // Calls of programs, and all calls where a share link leaves the conversation out.
    ...[...left.values()].flat().map((step) => ({ kind: "call", key: `c${step.id}`, at: step.started_at, call: null, step, output: null })),
    ...people
      // A message is in the conversation already.
      .filter((activity) => activity.kind !== "message" || !messages.length)
      .map((activity) => ({ kind: "activity", key: `p${activity.id}`, at: activity.at, activity })),
  ].sort((a, b) => a.at - b.at);
  const nodes = merged(written, besides);
  if (streaming.trim()) {
    nodes.push({ kind: "streaming", key: "streaming", at: Infinity, text: streaming });
  }
  const queued = messages.filter((message) => message.position === null);
  return [...nodes, ...queued.flatMap(nodesOfPerson)];
}

/** Inserts nodes by their time; the order of the others stays.
 *  @param {ConversationNode[]} kept @param {ConversationNode[]} inserted */
function merged(kept, inserted) {
  const nodes = [];
  let next = 0;
  for (const node of kept) {
    while (next < inserted.length && inserted[next].at < node.at) {
      nodes.push(inserted[next]);
      next += 1;
    }
    nodes.push(node);
  }
  return [...nodes, ...inserted.slice(next)];
}

/** Whether a card begins open: that of a call that failed.  @param {ConversationNode} node */
export function isFailed({ step }) {
  return Boolean(step && (step.error || step.status === "failed"));
}
