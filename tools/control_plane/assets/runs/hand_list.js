// The recordings that people and programs started by hand on the running desktops, above the runs.
//
// Such a recording belongs to its desktop and ends with it. The recorder of a run bears the id of its
// chat, so what has the id of a chat is listed with the runs already.
import { Refused, address, get } from "../api.js";
import { byId, element, keyed, setText } from "../dom.js";
import { texts } from "../texts.js";
import { ago, duration } from "../words.js";
import { fitting } from "./hand_filter.js";

/** @typedef {import("./hand_filter.js").HandRecording} HandRecording */
/** @typedef {import("./hand_filter.js").DesktopRecording} DesktopRecording */

const words = texts.runs;
const NOT_FOUND = 404;

/** @type {Promise<HandRecording[]> | null} */
let known = null;

/** Shows the recordings that fit; returns how many.  @param {URLSearchParams} query */
export async function showHandRecordings(query) {
  known ??= read().catch(() => []);
  const shown = fitting(await known, query);
  byId("hand-section").hidden = shown.length === 0;
  keyed(byId("hand"), shown, ({ id, desktop }) => `${desktop}/${id}`, card, update);
  return shown.length;
}

/** @returns {Promise<HandRecording[]>} */
async function read() {
  const { desktops } = await get("api/v0/desktops");
  const ready = desktops.filter((/** @type {{status: string}} */ one) => one.status === "ready");
  return (await Promise.all(ready.map(ofDesktop))).flat();
}

/** @param {{id: string, name: string}} desktop @returns {Promise<HandRecording[]>} */
async function ofDesktop({ id, name }) {
  try {
    const { recordings } = await get(`api/v0/desktops/${encodeURIComponent(id)}/desktop/recordings`);
    const byHand = await Promise.all(recordings.map(isByHand));
    return recordings
      .filter((/** @type {unknown} */ _, /** @type {number} */ index) => byHand[index])
      .map((/** @type {DesktopRecording} */ one) => ({ ...one, desktop: id, desktopName: name }));
  } catch {
    // It has ended meanwhile, or the credential covers no more than its picture.
    return [];
  }
}

/** @param {DesktopRecording} recording */
async function isByHand({ id }) {
  try {
    await get(`api/v0/chats/${encodeURIComponent(id)}`);
    return false;
  } catch (error) {
    return error instanceof Refused && error.status === NOT_FOUND;
  }
}

/** @param {HandRecording} recording */
function card({ id, desktop }) {
  const [below, name] = [desktop, id].map(encodeURIComponent);
  const image = element("img", { alt: "", loading: "lazy", src: address(`api/v0/desktops/${below}/desktop/recordings/${name}/thumbnail`) });
  // One that records still has no picture yet.
  image.addEventListener("error", () => {
    image.hidden = true;
  });
  return element(
    "li",
    { className: "card" },
    element(
      "a",
      { href: address(`desktops/${below}/recordings/${name}`) },
      element("span", { className: "shot" }, image, element("span", { className: "length" })),
      element("span", { className: "card-title" }),
      element("span", { className: "card-line" }, element("span", { className: "badge" }), element("span", { className: "card-when" })),
    ),
  );
}

/** @param {HTMLElement} made @param {HandRecording} recording */
function update(made, { label, desktopName, status, started_at: at, video_s: seconds }) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (made.querySelector(name));
  const records = status === "recording";
  setText(part(".length"), `▶ ${duration(seconds)}`);
  setText(part(".card-title"), label || words.handTitle);
  setText(part(".badge"), records ? words.recording : words.byHand);
  part(".badge").dataset.tone = records ? "busy" : "quiet";
  setText(part(".card-when"), `${desktopName} · ${ago(at)}`);
}
