import assert from "node:assert/strict";
import { test } from "node:test";

import { earlierTasks, orderOf } from "../../../../../tools/control_plane/assets/home/order.js";

const USUAL = { prompt: " Pay the bill ", title: "", model: "", desktop: "", steps: "", minutes: "", timeout: "", record: "yes" };

test("fields that are left empty are left out", () => {
  assert.deepEqual(orderOf(USUAL), { prompt: "Pay the bill" });
});

test("limits become a budget of numbers", () => {
  const order = orderOf({ ...USUAL, model: "scripted:tour ", desktop: "0123abcd", title: "Bill", steps: "30", minutes: "2.5" });
  assert.deepEqual(order, {
    prompt: "Pay the bill",
    title: "Bill",
    model: "scripted:tour",
    desktop: "0123abcd",
    budget: { steps: 30, minutes: 2.5 },
  });
});

test("a timeout is sent in seconds, and a run is recorded unless its box is not checked", () => {
  const { record: checked, ...unchecked } = USUAL;
  assert.ok(checked);
  assert.deepEqual(orderOf({ ...unchecked, timeout: "1.5" }), { prompt: "Pay the bill", timeout_seconds: 90, record: false });
});

test("an earlier task is listed once, and the tasks that agents gave are not", () => {
  const worked = { mode: "chat", turn: 1 };
  const chats = [
    { id: "6", title: "Of a page", parent_id: "5", mode: "computer_use", turn: 0 },
    { id: "5", title: "Lends its name", parent_id: null, mode: "chat", turn: 0 },
    { id: "4", title: "Bill", parent_id: null, ...worked },
    { id: "3", title: "Part of it", parent_id: "4", ...worked },
    { id: "2", title: "", parent_id: null, ...worked },
    { id: "1", title: "Bill", parent_id: null, ...worked },
    { id: "0", title: "Library", parent_id: null, ...worked },
  ];
  assert.deepEqual(
    earlierTasks(/** @type {any} */ (chats)).map(({ id }) => id),
    ["6", "4", "0"],
  );
});
