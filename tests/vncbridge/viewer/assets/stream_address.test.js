import assert from "node:assert/strict";
import { test } from "node:test";

import { StreamAddress } from "../../../../vncbridge/viewer/assets/stream_address.js";

const STREAM = new URL("wss://plane.example.com/api/v0/desktops/d1/desktop/vnc?viewer=v1");
const TICKETS = new URL("https://plane.example.com/api/v0/desktops/d1/desktop/tickets");
const OWN = "wss://n7.example.com/live/d1?ticket=a.b-_.c";

/** @param {(role: string) => [number, object]} answers */
function opened(answers, asks = true, watchOnly = false) {
  /** @type {string[]} */
  const roles = [];
  /** @type {any} */
  const post = async (url, { method, body }) => {
    assert.equal(url, TICKETS);
    assert.equal(method, "POST");
    const { role } = JSON.parse(body);
    roles.push(role);
    const [status, found] = answers(role);
    return { status, ok: status < 400, json: async () => found };
  };
  return { address: new StreamAddress(STREAM, TICKETS, asks, { watchOnly, post }), roles };
}

test("on one machine nothing is asked, and the stream is that of the service", async () => {
  const { address, roles } = opened(() => [201, { url: OWN }], false);
  assert.deepEqual(await address.next(), { url: STREAM, isOwn: false });
  assert.deepEqual(roles, []);
});

test("each connection has a ticket of its own, and keeps the viewer's id", async () => {
  let made = 0;
  const { address, roles } = opened(() => [201, { url: `${OWN}${(made += 1)}` }]);
  for (const number of [1, 2]) {
    const { url, isOwn } = await address.next();
    assert.equal(url.href, `${OWN}${number}&viewer=v1`);
    assert.equal(isOwn, true);
  }
  assert.deepEqual(roles, ["control", "control"]);
});

test("a credential for watching gets a ticket for watching", async () => {
  const { address, roles } = opened((role) => (role === "view" ? [201, { url: OWN }] : [403, {}]));
  assert.equal((await address.next()).isOwn, true);
  assert.equal((await address.next()).isOwn, true);
  assert.deepEqual(roles, ["control", "view", "view"]);
  const watching = opened(() => [201, { url: OWN }], true, true);
  await watching.address.next();
  assert.deepEqual(watching.roles, ["view"]);
});

test("without an address, a ticket or an answer the stream is that of the service", async () => {
  const answers = [
    () => [201, { ticket: "t" }],
    () => [401, {}],
    () => [201, { url: "no address" }],
    () => {
      throw new TypeError("no connection");
    },
  ];
  for (const answer of answers) {
    const { address } = opened(/** @type {any} */ (answer));
    assert.deepEqual(await address.next(), { url: STREAM, isOwn: false });
    // The next connection asks again.
    assert.equal(address.asks, true);
  }
});

test("an address that cannot be reached is not asked for again", async () => {
  const { address, roles } = opened(() => [201, { url: OWN }]);
  await address.next();
  address.unreachable();
  assert.deepEqual(await address.next(), { url: STREAM, isOwn: false });
  assert.equal(roles.length, 1);
});
