import assert from "node:assert/strict";
import { test } from "node:test";

import { cropOf, gestureOf, placeOf } from "../../../../../../tools/control_plane/assets/run/recording/gestures.js";

const screen = [1920, 1080];
const step = (action, given = {}, details = { native_point: [960, 270] }) => ({ id: "1", tool: "computer", action, label: "In words", arguments: given, details });

test("clicks are at their place on the screen", () => {
  assert.deepEqual(gestureOf(step("double_click"), screen), { kind: "click", at: [0.5, 0.25], times: 2, button: "double" });
  assert.deepEqual(gestureOf(step("right_click"), screen), { kind: "click", at: [0.5, 0.25], times: 1, button: "right" });
  assert.deepEqual(gestureOf(step("mouse_move"), screen), { kind: "point", at: [0.5, 0.25] });
});

test("a place in model space counts where the screen's is not known", () => {
  assert.deepEqual(placeOf(step("left_click", { coordinate: [640, 180] }, {}), screen), [0.5, 0.25]);
  assert.deepEqual(placeOf(step("left_click", {}, { native_point: [9, 9], model_point: [320, 180] }), [0, 0]), [0.25, 0.25]);
  assert.equal(placeOf(step("left_click", { coordinate: ["a", 1] }, {}), screen), null);
});

test("a drag is its path, and a click without its begin", () => {
  assert.deepEqual(gestureOf(step("left_click_drag", { start_coordinate: [0, 0] }), screen), { kind: "drag", path: [[0, 0], [0.5, 0.25]] });
  assert.equal(gestureOf(step("left_click_drag"), screen)?.kind, "click");
});

test("a scroll has its direction", () => {
  assert.deepEqual(gestureOf(step("scroll", { scroll_direction: "up" }), screen), { kind: "scroll", at: [0.5, 0.25], x: 0, y: -1 });
  assert.deepEqual(gestureOf(step("scroll", { scroll_x: 40, scroll_y: -300 }), screen), { kind: "scroll", at: [0.5, 0.25], x: 1, y: -1 });
  assert.equal(gestureOf(step("scroll"), screen)?.y, 1);
});

test("keys and typed text are shown as the step is shown, masked", () => {
  assert.deepEqual(gestureOf(step("key"), screen), { kind: "keys", text: "In words" });
  assert.deepEqual(gestureOf(step("type_secret"), screen), { kind: "text", text: "In words" });
  assert.equal(gestureOf(step("screenshot", {}, {}), screen), null);
});

test("a crop is around its point and never outside of the picture", () => {
  assert.deepEqual([cropOf([0.5, 0.5]), cropOf([0, 1])], [[0.375, 0.375], [0, 0.75]]);
});
