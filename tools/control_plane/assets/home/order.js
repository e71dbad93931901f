// The order for an agent, as a person fills it in.

/**
 * The fields of the form; an empty text stands for the usual value.
 *
 * @typedef {{prompt: string, title: string, model: string, desktop: string, steps: string, minutes: string, timeout?: string, record?: string}} OrderFields
 */

/**
 * The arguments of the tool that starts an agent.
 *
 * @param {OrderFields} fields
 */
export function orderOf({ prompt, title, model, desktop, steps, minutes, timeout = "", record = "" }) {
  /** @type {Record<string, any>} */
  const order = { prompt: prompt.trim() };
  for (const [name, value] of Object.entries({ title, model, desktop })) {
    if (value.trim()) {
      order[name] = value.trim();
    }
  }
  if (timeout.trim()) {
    order.timeout_seconds = 60 * Number(timeout);
  }
  if (!record) {
    // A box that is not checked is no field of its form.
    order.record = false;
  }
  const budget = Object.fromEntries(
    Object.entries({ steps, minutes })
      .filter(([, value]) => value.trim())
      .map(([name, value]) => [name, Number(value)]),
  );
  return Object.keys(budget).length ? { ...order, budget } : order;
}

/**
 * Earlier tasks that can be given again: each title once, the newest first, without those that an
 * agent gave to another one.
 *
 * @param {readonly Chat[]} chats  the newest first
 */
export function earlierTasks(chats) {
  // A chat without a turn only lends its name to callers of the tools, such as these pages.
  const agents = new Set(chats.filter(hasWorked).map(({ id }) => id));
  const seen = new Set([undefined, ""]);
  return chats.filter((chat) => {
    const { title, parent_id: parent } = chat;
    const isNew = hasWorked(chat) && !seen.has(title) && !(parent && agents.has(parent));
    seen.add(title);
    return isNew;
  });
}

/**
 * Whether a chat is a run.
 *
 * @param {Pick<Chat, "mode" | "turn">} chat
 */
export function hasWorked({ mode, turn }) {
  return mode === "computer_use" || turn > 0;
}
