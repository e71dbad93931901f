// The page's one WebSocket: events of chats, desktops and viewers, and pictures of screens.
//
// A page holds no HTTP response open: a browser opens six connections to one host for all tabs.
import { ticketed } from "../viewer/page_key.js";
import { address, get } from "./api.js";
import { hideOutage, showOutage } from "./outage.js";
import { Subscriptions, pauseBefore } from "./subscriptions.js";

/** @typedef {import("./subscriptions.js").Handlers} Handlers */

const PAUSE = 200;

/** @type {WebSocket | null} */
let socket = null;
let connecting = false;
let failures = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
const subscriptions = new Subscriptions((message) => socket?.send(JSON.stringify(message)));

async function connect() {
  clearTimeout(timer);
  if (connecting) {
    return;
  }
  connecting = true;
  const { href } = await ticketed(address("api/v0/live").replace(/^http/, "ws"));
  connecting = false;
  const made = new WebSocket(href);
  made.binaryType = "arraybuffer";
  let wasOpen = false;
  made.addEventListener("open", () => {
    wasOpen = true;
    failures = 0;
    hideOutage();
    subscriptions.opened();
  });
  made.addEventListener("message", ({ data }) => {
    if (typeof data === "string") {
      subscriptions.received(JSON.parse(data));
    } else {
      subscriptions.receivedPicture(new Uint8Array(data));
    }
  });
  made.addEventListener("close", () => {
    if (socket === made) {
      socket = null;
      subscriptions.closed();
      timer = setTimeout(connect, pauseBefore(failures));
      failures += 1;
      if (!wasOpen) {
        // A browser keeps the reason of a refused handshake to itself: the session may have ended,
        // which this request notices.
        get("api/v0/status").then(hideOutage, (error) => showOutage(error, () => socket || connect()));
      }
    }
  });
  socket = made;
}

/**
 * Calls the handlers of a topic until the returned function is called: `event` for each event,
 * `again` when events were missed, `picture` for each picture.
 *
 * @param {string} topic `chats`, `chat:ID`, `desktops`, `viewers:ID` or `shot:ID?width=N`
 * @param {Handlers} handlers
 */
export function subscribe(topic, handlers) {
  if (!socket && !timer && !connecting) {
    connect();
  }
  return subscriptions.add(topic, handlers);
}

/**
 * Calls `read` now, and again after anything happened to one of the topics: never twice at a time,
 * and less often where it takes long.
 *
 * @param {string | string[]} topics
 * @param {() => Promise<void>} read
 * @param {{streamed?: (text: string) => void, happened?: (message: import("./subscriptions.js").Message) => void, pause?: number}} [options]
 *   `streamed` receives the text so far of a reply, `happened` each other event before the call;
 *   `pause` are the milliseconds between two calls at least
 */
export function follow(topics, read, { streamed = () => {}, happened = () => {}, pause = PAUSE } = {}) {
  let reading = false;
  let wanted = false;

  async function again() {
    if (reading) {
      wanted = true;
      return;
    }
    reading = true;
    do {
      wanted = false;
      const began = performance.now();
      await read();
      // A long run takes long to read: its page must not keep the control plane busy.
      const taken = performance.now() - began;
      await new Promise((resolve) => setTimeout(resolve, Math.max(pause, 2 * taken)));
    } while (wanted);
    reading = false;
  }

  for (const topic of [topics].flat()) {
    subscribe(topic, {
      event: (message) => {
        if (message.kind === "text") {
          streamed(message.data.text || "");
          return;
        }
        happened(message);
        again();
      },
      again,
    });
  }
  again();
  return again;
}
