// Chats that a page has read, changed by their events: what happens is shown before it is read again.

/**
 * The chats after an event; the same list if the event does not change it.
 *
 * @template {{id: string, version?: number}} T
 * @param {readonly T[]} chats
 * @param {{kind: string, chat_id?: string, data?: any}} event
 * @returns {readonly T[]}
 */
export function chatsAfter(chats, { kind, chat_id: id, data }) {
  if (kind === "deleted") {
    return chats.some((chat) => chat.id === id) ? chats.filter((chat) => chat.id !== id) : chats;
  }
  const isNewer = (/** @type {T} */ chat) => chat.id === id && (data?.version ?? 0) >= (chat.version ?? 0);
  if (kind !== "status" || !chats.some(isNewer)) {
    return chats;
  }
  return chats.map((chat) => (isNewer(chat) ? { ...chat, ...data } : chat));
}
