// Server-sent events, as a reason to read again.
import { address } from "./api.js";

const KINDS = ["created", "status", "message", "step", "queue", "files", "deleted", "lost"];

/**
 * Calls `read` now, and again after anything happened: not more often than every `pause`
 * milliseconds, never twice at a time.
 *
 * @param {string} path
 * @param {() => Promise<void>} read
 * @param {number} [pause]
 * @param {(text: string) => void} [streamed]  receives the text so far of a reply
 */
export function follow(path, read, pause = 700, streamed = () => {}) {
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
      await read();
      await new Promise((resolve) => setTimeout(resolve, pause));
    } while (wanted);
    reading = false;
  }

  const source = new EventSource(address(path));
  source.addEventListener("text", (event) => streamed(JSON.parse(event.data).data.text || ""));
  // Also after a lost connection: what happened meanwhile is not sent again.
  source.addEventListener("open", again);
  for (const kind of KINDS) {
    source.addEventListener(kind, again);
  }
  again();
  return again;
}
