// A recording that was started by hand: its video, and the steps that were made meanwhile.
import { address, get } from "./api.js";
import { byId, element, setText, troubled } from "./dom.js";
import { problemOf } from "./problem.js";
import { texts } from "./texts.js";
import { ago, clock, duration, stepTitle } from "./words.js";

/** @typedef {{url: string, begins: number, seconds: number}} Part */

const words = texts.handRecording;
const [desktop, , recording] = location.pathname.split("/").slice(-3);
const below = `api/v0/desktops/${desktop}/desktop`;
/** @type {HTMLVideoElement} */
const video = byId("video");
/** @type {Part[]} */
let parts = [];
let part = 0;

/** Plays from a time of the whole recording, which may be in another file.  @param {number} time */
function seek(time) {
  const wanted = Math.max(0, parts.findLastIndex(({ begins }) => begins <= time));
  open(wanted, time - parts[wanted].begins);
}

/** @param {number} wanted @param {number} time */
function open(wanted, time) {
  if (wanted !== part) {
    part = wanted;
    video.src = parts[part].url;
  }
  video.currentTime = time;
}

video.addEventListener("ended", () => {
  if (part + 1 < parts.length) {
    open(part + 1, 0);
    video.play();
  }
});

/** @param {any} found */
function show(found) {
  const title = found.label || words.title;
  setText(byId("title"), title);
  document.title = `${title} · Deskhand`;
  const goesOn = found.status === "recording";
  setText(byId("going-on"), words.goOn);
  byId("going-on").hidden = !goesOn;
  video.hidden = goesOn;
  byId("save").hidden = goesOn;
  if (!goesOn) {
    const file = `${below}/recordings/${recording}/video`;
    parts = found.parts.map((/** @type {any} */ one) => ({ url: address(`${file}?part=${one.index}`), begins: one.video_start, seconds: one.video_s }));
    video.src = parts[0].url;
    byId("save").href = parts[0].url;
  }
  const steps = goesOn ? [] : found.steps;
  setText(byId("steps-none"), words.noSteps);
  byId("steps-none").hidden = goesOn || steps.length > 0;
  byId("steps").replaceChildren(...steps.map(row));
}

/** @param {any} step */
function row(step) {
  const button = element("button", { type: "button" }, `${clock(step.video_start, true)} ${stepTitle({ ...step, arguments: { text: step.text, coordinate: step.native_point } })}`);
  button.addEventListener("click", () => seek(step.video_start));
  return element("li", {}, button);
}

byId("to-desktop").href = address(`desktops/${desktop}`);
troubled(async () => {
  try {
    const found = await get(`${below}/recordings/${recording}`);
    const { name } = await get(`api/v0/desktops/${desktop}`);
    show(found);
    setText(byId("facts"), words.facts(name, ago(found.started_at), duration(found.video_s)));
  } catch (error) {
    if (!problemOf(error, "recording")) {
      throw error;
    }
  }
});
