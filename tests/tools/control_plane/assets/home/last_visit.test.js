import assert from "node:assert/strict";
import { test } from "node:test";

import { LastVisit, MOST_ENDED, SHORT_ABSENCE } from "../../../../../tools/control_plane/assets/home/last_visit.js";

/** @param {Record<string, string>} [kept] */
function memory(kept = {}) {
  const values = new Map(Object.entries(kept));
  return {
    getItem: (/** @type {string} */ name) => values.get(name) ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ value) => void values.set(name, value),
  };
}

const refusing = {
  getItem: () => {
    throw new Error("no storage");
  },
  setItem: () => {
    throw new Error("no storage");
  },
};

/** @param {string} id @param {number} ended @param {object} [more] @returns {any} */
const run = (id, ended, more = {}) => ({ id, mode: "computer_use", turn: 1, state: "waiting", ended_at: ended, ...more });

test("a first visit, and a browser without storage, have nothing to show", () => {
  const first = new LastVisit(memory(), "");
  assert.deepEqual(first.ended([run("a", 50)]), []);
  const without = new LastVisit(refusing, "");
  without.left(10);
  assert.equal(without.since, null);
});

test("what ended since the last visit is shown, the newest first, without subagents and runs at work", () => {
  const storage = memory();
  new LastVisit(storage, "ada").left(100);
  const visit = new LastVisit(storage, "ada");
  const chats = [
    run("before", 99),
    run("older", 101),
    run("newer", 120),
    run("child", 119, { parent_id: "newer" }),
    run("working", 0, { state: "running", ended_at: null }),
    run("empty", 130, { mode: "chat", turn: 0 }),
  ];
  assert.deepEqual(visit.ended(chats).map(({ id }) => id), ["newer", "older"]);
  assert.deepEqual(new LastVisit(storage, "another").ended(chats), []);
  const many = Array.from({ length: MOST_ENDED + 1 }, (_, n) => run(`r${n}`, 200 + n));
  assert.equal(visit.ended(many).length, MOST_ENDED);
});

test("a visit goes on after a short absence, and begins anew after a long one", () => {
  const visit = new LastVisit(memory({ "deskhand-last-visit-": "100" }), "");
  visit.left(200);
  visit.back(200 + SHORT_ABSENCE);
  assert.equal(visit.since, 100);
  visit.back(201 + SHORT_ABSENCE);
  assert.equal(visit.since, 200);
});

test("what was seen is not shown again", () => {
  const visit = new LastVisit(memory({ "deskhand-last-visit-": "100" }), "");
  visit.seen(300);
  assert.deepEqual(visit.ended([run("a", 250)]), []);
});
