// The lanes of the time line, drawn into a canvas: a long run has thousands of stretches.
import { LANES } from "./lanes.js";

/** @typedef {import("./lanes.js").LaneSpan} LaneSpan */
/** @typedef {import("./time_scale.js").TimeScale} TimeScale */

const LEAST = 1.5;

/** @param {HTMLCanvasElement} canvas @param {TimeScale} scale @param {LaneSpan[]} spans */
export function drawLanes(canvas, scale, spans) {
  const ratio = devicePixelRatio || 1;
  const height = canvas.clientHeight;
  canvas.width = Math.round(scale.width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context || !height) {
    return;
  }
  const style = getComputedStyle(canvas);
  const colours = new Map([...LANES, "failed"].map((name) => [name, style.getPropertyValue(`--lane-${name}`).trim() || "gray"]));
  context.scale(ratio, ratio);
  const lane = height / LANES.length;
  for (const span of spans) {
    if (span.to < scale.from || span.from > scale.to) {
      continue;
    }
    const left = Math.max(-2, scale.x(span.from));
    const right = Math.min(scale.width + 2, Math.max(left + LEAST, scale.x(span.to)));
    context.fillStyle = colours.get(span.failed ? "failed" : span.lane) || "gray";
    context.fillRect(left, LANES.indexOf(span.lane) * lane + 1, right - left, lane - 2);
  }
}
