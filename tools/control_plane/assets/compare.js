// Two runs beside each other: their steps aligned, their videos synchronised, their figures.
import { address, get } from "./api.js";
import { aligned, anchors, firstDifference } from "./compare/alignment.js";
import { figures } from "./compare/run_pair.js";
import { TwoVideos } from "./compare/two_videos.js";
import { byId, element, setText, troubled } from "./dom.js";
import { texts } from "./texts.js";
import { stepTitle } from "./words.js";

/** @typedef {import("./compare/run_pair.js").ComparedRun} ComparedRun */
/** @typedef {import("./compare/alignment.js").Pair} Pair */
/** @typedef {{chat: ComparedRun, recordings: {url: string, video_s: number | null, chapters_url: string}[], video: {seconds: number} | null}} Run */

const ROWS_AT_ONCE = 200;
const CHOICES = 100;
const wanted = new URLSearchParams(location.search);
const videos = new TwoVideos();
let shown = ROWS_AT_ONCE;

/** @param {Run} run */
const partsOf = ({ recordings }) =>
  recordings.map((part) => ({ url: address(part.url), seconds: part.video_s, chapters: address(part.chapters_url) }));

/** Fills the lists with the newest runs, and those of the address. */
async function choices() {
  const { chats } = await get(`api/v0/runs?limit=${CHOICES}`);
  for (const name of ["a", "b"]) {
    const chosen = wanted.get(name) || "";
    const known = chats.some((/** @type {Chat} */ { id }) => id === chosen);
    const options = [...(known ? [] : [{ id: chosen, title: chosen || texts.compare.choose }]), ...chats];
    byId(`choice-${name}`).replaceChildren(
      ...options.map(({ id, title }) => element("option", { value: id, selected: id === chosen }, title || id)),
    );
  }
}

/** @param {Run} a @param {Run} b */
function show(a, b) {
  const [first, second] = [a.chat, b.chat];
  document.title = `${texts.compare.title(first.title || "A", second.title || "B")} · Deskhand`;
  for (const [name, chat] of /** @type {[string, ComparedRun][]} */ ([["a", first], ["b", second]])) {
    byId(`title-${name}`).href = address(`runs/${encodeURIComponent(chat.id)}`);
    setText(byId(`title-${name}`), `${name.toUpperCase()}: ${chat.title || chat.id}`);
  }
  byId("compare-facts").replaceChildren(...figures(first, second).map(figureRow));
  const pairs = aligned(first.steps, second.steps);
  const known = anchors(pairs, first.steps, second.steps, a.video?.seconds ?? 0, b.video?.seconds ?? 0);
  videos.load(partsOf(a), partsOf(b), known);
  const at = firstDifference(pairs);
  setText(byId("compare-first"), at < 0 ? texts.compare.none : texts.compare.first(at + 1));
  byId("compare-show").hidden = at < 0;
  const draw = () => drawPairs(pairs, first.steps, second.steps);
  byId("compare-show").addEventListener("click", () => {
    shown = Math.max(shown, at + 1);
    draw();
    const row = /** @type {HTMLElement} */ (byId("differences").children[at]);
    row.scrollIntoView({ block: "center" });
    row.querySelector("button")?.focus();
    seekTo(pairs[at], first.steps, second.steps);
  });
  byId("differences-more").addEventListener("click", () => {
    shown += ROWS_AT_ONCE;
    draw();
  });
  draw();
  byId("compared").hidden = false;
}

/** @param {ReturnType<typeof figures>[number]} row */
function figureRow({ name, a, b, larger, factor }) {
  const cell = (/** @type {string} */ words, /** @type {string} */ side) =>
    element("td", {}, words, larger === side ? element("small", {}, ` ${factor}`) : null);
  return element("tr", {}, element("th", { scope: "row" }, name), cell(a, "a"), cell(b, "b"));
}

/** @param {Pair[]} pairs @param {Step[]} a @param {Step[]} b */
function drawPairs(pairs, a, b) {
  const rows = pairs.slice(0, shown).map((pair) => {
    const cell = (/** @type {number | null} */ index, /** @type {Step[]} */ steps) => {
      if (index === null) {
        return element("span", { className: "difference-none" }, "–");
      }
      const words = element("span", {}, `${index + 1} ${stepTitle(steps[index])}`);
      return element("span", { className: steps[index].error ? "difference-failed" : "" }, words);
    };
    const kind = element("span", { className: "difference-kind" }, texts.compare.kinds[pair.kind]);
    const button = element("button", { type: "button" }, cell(pair.a, a), kind, cell(pair.b, b));
    button.addEventListener("click", () => seekTo(pair, a, b));
    const item = element("li", {}, button);
    item.dataset.kind = pair.kind;
    return item;
  });
  byId("differences").replaceChildren(...rows);
  byId("differences-more").hidden = pairs.length <= shown;
  setText(byId("differences-more"), texts.compare.more(Math.min(ROWS_AT_ONCE, pairs.length - shown)));
}

/** @param {Pair} pair @param {Step[]} a @param {Step[]} b */
function seekTo(pair, a, b) {
  const [one, other] = [pair.a === null ? null : a[pair.a].video_start, pair.b === null ? null : b[pair.b].video_start];
  if (typeof one === "number") {
    videos.seek(one);
  } else if (typeof other === "number") {
    videos.seekSecond(other);
  }
}

byId("choice").addEventListener("change", () => {
  const [a, b] = [byId("choice-a").value, byId("choice-b").value];
  location.assign(address(`compare?${new URLSearchParams({ ...(a && { a }), ...(b && { b }) })}`));
});

await troubled(async () => {
  const listing = choices();
  const [a, b] = [wanted.get("a"), wanted.get("b")];
  if (a && b) {
    const [one, other] = await Promise.all([a, b].map((id) => get(`api/v0/runs/${encodeURIComponent(id)}`)));
    show(one, other);
  } else {
    byId("compare-none").hidden = false;
    setText(byId("compare-none"), texts.compare.missing);
  }
  await listing;
});
