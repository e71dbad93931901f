// Subscriptions of a page to the events of its one WebSocket: a pure model, without the socket.
//
// It keeps for each topic the id of the newest event. When the socket is open again, it subscribes
// with that id, so that no event is missed; without one the page reads again what it shows.

/**
 * @typedef {{topic: string, kind: string, id?: string, chat_id?: string, data?: any, message?: string}} Message
 * @typedef {{event?: (message: Message) => void, again?: () => void, picture?: (image: Uint8Array<ArrayBuffer>) => void}} Handlers
 */

export class Subscriptions {
  /** @param {(message: object) => void} send  sends while the socket is open */
  constructor(send) {
    this.send = send;
    this.isOpen = false;
    /** @type {Map<string, {handlers: Set<Handlers>, last: string}>} */
    this.topics = new Map();
  }

  /**
   * @param {string} name
   * @param {Handlers} handlers
   * @returns {() => void} What unsubscribes.
   */
  add(name, handlers) {
    let topic = this.topics.get(name);
    if (!topic) {
      topic = { handlers: new Set(), last: "" };
      this.topics.set(name, topic);
      if (this.isOpen) {
        this.send({ subscribe: name });
      }
    }
    topic.handlers.add(handlers);
    return () => this.remove(name, handlers);
  }

  /**
   * @param {string} name
   * @param {Handlers} handlers
   */
  remove(name, handlers) {
    const topic = this.topics.get(name);
    if (topic?.handlers.delete(handlers) && topic.handlers.size === 0) {
      this.topics.delete(name);
      if (this.isOpen) {
        this.send({ unsubscribe: name });
      }
    }
  }

  /** The socket is open, now or again. */
  opened() {
    this.isOpen = true;
    for (const [name, { last }] of this.topics) {
      this.send(last ? { subscribe: name, after: last } : { subscribe: name });
    }
  }

  closed() {
    this.isOpen = false;
  }

  /** @param {Message} message */
  received(message) {
    const topic = this.topics.get(message.topic);
    if (!topic) {
      return;
    }
    topic.last = message.id || topic.last;
    if (message.kind === "open") {
      // What happened before, since the page read what it shows, is not sent.
      if (!topic.last) {
        each(topic.handlers, (handlers) => handlers.again?.());
      }
      return;
    }
    each(topic.handlers, (handlers) => (message.kind === "again" ? handlers.again?.() : handlers.event?.(message)));
  }

  /**
   * A binary message: the topic, a line feed, and a picture.
   *
   * @param {Uint8Array<ArrayBuffer>} data
   */
  receivedPicture(data) {
    const end = data.indexOf(10);
    const topic = this.topics.get(new TextDecoder().decode(data.subarray(0, end)));
    each(topic?.handlers ?? [], (handlers) => handlers.picture?.(data.subarray(end + 1)));
  }
}

/**
 * @param {Iterable<Handlers>} handlers
 * @param {(handlers: Handlers) => void} call
 */
function each(handlers, call) {
  // A handler may unsubscribe.
  for (const one of [...handlers]) {
    call(one);
  }
}

/**
 * Milliseconds until the next attempt to connect, after `failures` in a row.
 *
 * @param {number} failures
 */
export function pauseBefore(failures) {
  return Math.min(250 * 2 ** failures, 5000);
}
