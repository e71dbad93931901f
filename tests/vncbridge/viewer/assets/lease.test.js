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
async function followed() {
  world.WebSocket = Socket;
  world.sessionStorage = world.localStorage = { getItem: () => null };
  world.fetch = async () => Response.json({ ticket: "t1" }, { status: 201 });
  /** @type {boolean[]} */
  const seen = [];
  const lease = new Lease(new URL("http://desktop/api/v0/desktop"), "v1", ({ you }) => seen.push(you));
  await lease.follow();
  const socket = /** @type {Socket} */ (/** @type {unknown} */ (Socket.last));
  return { lease, socket, seen };
}

test("a message that the answer to a request has overtaken changes nothing", async () => {
  const { lease, socket, seen } = await followed();
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

test("a connection has a ticket", async () => {
  const { socket } = await followed();
  assert.equal(socket.address, "ws://desktop/api/v0/desktop/lease/watch?viewer=v1&ticket=t1");
});

test("a service that was started again counts anew", async () => {
  const first = await followed();
  first.socket.receive(state(7, true));
  await first.lease.follow();
  const second = /** @type {Socket} */ (/** @type {unknown} */ (Socket.last));
  second.receive(state(0, false));
  assert.deepEqual(first.seen, [true, false]);
});
