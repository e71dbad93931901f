// The control plane's API. Every address is relative to the page, so that a proxy may put the
// pages below a path of its own.
import { fetchKeyed, leaveTabSession, ticketLinks } from "../viewer/page_key.js";
import { compareClocks } from "./server_clock.js";
import { texts } from "./texts.js";

export { serverNow } from "./server_clock.js";

const root = new URL(document.documentElement.dataset.root ?? "", document.baseURI);

/** @param {string} path */
export function address(path) {
  return new URL(path, root).href;
}

const sentence = (/** @type {string} */ text) => text[0].toUpperCase() + text.slice(1);

/** A request that the service refused, or did not answer (status 0). */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {{message?: string, detail?: string}} body
   */
  constructor(status, body) {
    const words = [body.message || texts.outage.answered(status), body.detail || ""];
    super(words.filter(Boolean).map(sentence).join(" "));
    this.status = status;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function request(path, options) {
  let answer;
  try {
    answer = await fetchKeyed(address(path), options);
  } catch {
    throw new Refused(0, { message: texts.outage.noAnswer });
  }
  compareClocks(answer.headers.get("Date"));
  if (answer.status === 401) {
    const here = location.pathname.slice(root.pathname.length) + location.search;
    location.assign(address(`login?again&next=${encodeURIComponent(here)}${location.hash}`));
    // The page is about to go: nothing should be drawn from here on.
    await new Promise(() => {});
  }
  if (answer.status === 403 && leaveTabSession()) {
    // Of a share link, whose tab has gone on to what only the person may see.
    location.reload();
    await new Promise(() => {});
  }
  return answer;
}

/**
 * @param {Response} answer
 * @returns {Promise<any>}
 */
async function json(answer) {
  const body = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Refused(answer.status, body);
  }
  return body;
}

/** @param {string} path */
export async function get(path) {
  return json(await request(path, { headers: { Accept: "application/json" } }));
}

/**
 * @param {string} path
 * @param {object} body
 */
export async function post(path, body = {}) {
  return json(
    await request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
}

/** @param {string} path */
export async function put(path) {
  return json(await request(path, { method: "PUT" }));
}

/** @param {string} path */
export async function remove(path) {
  return json(await request(path, { method: "DELETE" }));
}

ticketLinks();

export function idFromPath() {
  return decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
}
