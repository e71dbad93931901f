import assert from "node:assert/strict";
import { test } from "node:test";

import { Lease } from "../../../../vncbridge/viewer/assets/lease.js";

/** @type {any} */
const world = globalThis;

/** A connection whose messages the test sends. */
class Socket extends EventTarget {
  /** @param {string} address */
  constructor(address) {
    super();
    this.address = address;
    Socket.last = this;
  }

  /** @param {object} state */
  receive(state) {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(state) }));
  }

  close() {}
}
/** @type {Socket | null} */
Socket.last = null;

/** @param {number} revision @param {boolean} you */
const state = (revision, you) => ({ revision, you, holder: { kind: you ? "person" : "none", name: "" } });

/** A lease that is followed, the connection, and what it has reported. */
function followed() {
  world.WebSocket = Socket;
  /** @type {boolean[]} */
  const seen = [];
  const lease = new Lease(new URL("http://desktop/api/v0/desktop"), "v1", ({ you }) => seen.push(you));
  lease.follow();
  const socket = /** @type {Socket} */ (/** @type {unknown} */ (Socket.last));
  return { lease, socket, seen };
}

test("a message that the answer to a request has overtaken changes nothing", async () => {
  const { lease, socket, seen } = followed();
  world.fetch = async () => new Response(JSON.stringify({ ...state(5, true), granted: true }));
  assert.equal((await lease.take("Ada", false)).granted, true);
  socket.receive(state(4, false));
  assert.deepEqual(seen, []);
  socket.receive(state(5, true));
  // The number of viewers changes without a revision.
  socket.receive(state(5, true));
  socket.receive(state(6, false));
  assert.deepEqual(seen, [true, true, false]);
});

test("a service that was started again counts anew", () => {
  const first = followed();
  first.socket.receive(state(7, true));
  first.lease.follow();
  const second = /** @type {Socket} */ (/** @type {unknown} */ (Socket.last));
  second.receive(state(0, false));
  assert.deepEqual(first.seen, [true, false]);
});
