// The screen before and after a step, with its click, its drag and what has changed drawn on it.
import { address } from "../../api.js";
import { element } from "../../dom.js";
import { texts } from "../../texts.js";
import { changedRegions } from "./changed_regions.js";
import { marksOf, picturesOf } from "./step_facts.js";

const SVG = "http://www.w3.org/2000/svg";
/** Pictures with more pixels are not compared. */
const MOST_PIXELS = 4096 * 2304;

/** @param {string} tag @param {Record<string, any>} attributes @param {...Element} children */
function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** @param {import("./step_facts.js").Step} step @param {number} width @param {number} height */
function marksLayer(step, width, height) {
  const { point, path } = marksOf(step);
  const layer = drawn("svg", { class: "shot-marks", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  if (path.length) {
    const points = path.map((each) => each.join()).join(" ");
    layer.append(drawn("polyline", { class: "drag-path", points }), drawn("circle", { class: "drag-start", cx: path[0][0], cy: path[0][1], r: 6 }));
  }
  if (point) {
    const [cx, cy] = point;
    layer.append(drawn("circle", { class: "click-halo", cx, cy, r: 15 }), drawn("circle", { class: "click-point", cx, cy, r: 15 }), drawn("circle", { class: "click-centre", cx, cy, r: 2.5 }));
  }
  return layer;
}

/** @param {HTMLImageElement} image @returns {Uint8ClampedArray} */
function pixelsOf(image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, canvas.width, canvas.height).data;
}

const pause = () => new Promise((resolve) => setTimeout(resolve));

/** @param {HTMLImageElement} before @param {HTMLImageElement} after @param {Element} layer */
async function drawChanges(before, after, layer) {
  const [width, height] = [after.naturalWidth, after.naturalHeight];
  if (before.naturalWidth !== width || before.naturalHeight !== height || width * height > MOST_PIXELS) {
    return;
  }
  const old = pixelsOf(before);
  await pause();
  const now = pixelsOf(after);
  await pause();
  for (const region of changedRegions(old, now, width, height)) {
    layer.prepend(drawn("rect", { class: "changed-region", ...region }));
  }
}

/** @param {string} words @param {string} fileId @param {import("./step_facts.js").Step} step */
function pictureOf(words, fileId, step) {
  const image = element("img", { alt: words, src: address(`api/v0/files/${fileId}`) });
  const stage = element("span", { className: "shot-stage" }, image);
  const figure = element(
    "figure",
    {},
    element("figcaption", {}, words),
    element("button", { type: "button", className: "shot-open", "aria-label": texts.step.fullSize(words) }, stage),
  );
  const loaded = image.decode().then(
    () => {
      const layer = marksLayer(step, image.naturalWidth, image.naturalHeight);
      stage.append(layer);
      return layer;
    },
    // The file may have been removed.
    () => null,
  );
  figure.querySelector("button").addEventListener("click", () => showFullSize(stage, words));
  return { figure, image, loaded };
}

/** @param {HTMLElement} stage @param {string} words */
function showFullSize(stage, words) {
  const close = element("button", { type: "button" }, texts.step.close);
  const full = element("div", { className: "full-size", tabindex: "0", "aria-label": words }, stage.cloneNode(true));
  const dialog = element("dialog", { className: "full-size-dialog", "aria-label": words }, element("div", { className: "section-head" }, element("h2", {}, words), close), full);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {import("./step_facts.js").Step[]} steps @param {import("./step_facts.js").Step} step @returns {HTMLElement | null} */
export function stepPictures(steps, step) {
  const { before, after } = picturesOf(steps, step);
  if (!after) {
    return null;
  }
  const shown = pictureOf(texts.step.after, after, step);
  const old = before && before !== after ? pictureOf(texts.step.before, before, step) : null;
  if (old) {
    Promise.all([old.loaded, shown.loaded]).then(([, layer]) => layer && old.image.naturalWidth && drawChanges(old.image, shown.image, layer));
  }
  return element("div", { className: "step-pictures" }, old?.figure, shown.figure);
}
