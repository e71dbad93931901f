// What the time of a run was spent on, what would make it faster, and its pictures to download.
// It is read when a person opens it: most visits of a run do not need it.
import { address, get } from "../../api.js";
import { byId, element, setText, troubled } from "../../dom.js";
import { isAdministrator } from "../../rights.js";
import { texts } from "../../texts.js";
import { duration } from "../../words.js";
import { barOf, secondsOf, shownTotals } from "./bars.js";

/** @typedef {import("./bars.js").WaterfallRow} WaterfallRow */
/** @typedef {{seconds: number, totals: Record<string, number>, rows: WaterfallRow[], advice: {rule: string, text: string}[]}} Waterfall */

const ROWS_AT_ONCE = 100;

export class TimeSection {
  /** @param {string} id of the run */
  constructor(id) {
    this.id = id;
    this.steps = -1;
    this.read = -1;
    this.shown = ROWS_AT_ONCE;
    /** @type {boolean | null} */
    this.linked = null;
    /** @type {Waterfall | null} */
    this.found = null;
    byId("time-box").addEventListener("toggle", () => this.update(), true);
    byId("waterfall-more").addEventListener("click", () => {
      this.shown += ROWS_AT_ONCE;
      this.draw();
    });
  }

  /** @param {Chat & {steps: Step[]}} chat @param {boolean} recorded whether there is a recording */
  show(chat, recorded) {
    this.steps = chat.steps.length;
    byId("time-box").hidden = !this.steps;
    void this.links(recorded);
    this.update();
  }

  /** @param {boolean} recorded */
  async links(recorded) {
    if (recorded === this.linked) {
      return;
    }
    this.linked = recorded;
    const run = `api/v0/runs/${this.id}`;
    /** @type {[string, string][]} */
    const pictures = [
      [`${run}/sheet.png`, texts.time.sheet],
      [`${run}/trail.png`, texts.time.trail],
      [`api/v0/recordings/${this.id}/clip?format=gif`, texts.time.gif],
      [`${run}/report.html?video=1`, texts.time.reportWithVideo],
    ];
    /** @type {[string, string]} */
    const report = [`${run}/report.html`, texts.time.report];
    const shown = [report, ...(recorded ? pictures : [])];
    if (await isAdministrator) {
      shown.push([`compare?a=${this.id}`, texts.time.compare]);
    }
    // Another recording may have come while the rights were read.
    if (recorded === this.linked) {
      byId("time-links").replaceChildren(...shown.map(([path, words]) => element("a", { href: address(path) }, words)));
    }
  }

  update() {
    if (byId("time-details").open && this.read !== this.steps) {
      this.read = this.steps;
      void troubled(async () => {
        this.found = await get(`api/v0/runs/${this.id}/waterfall`);
        this.draw();
      });
    }
  }

  draw() {
    if (!this.found) {
      return;
    }
    const { seconds, totals, rows, advice } = this.found;
    const shown = shownTotals(totals);
    let at = 0;
    const spans = shown.map(([kind, length]) => ({ kind, begin: at, end: (at += length) }));
    byId("time-bar").style.background = barOf(spans, 0, at);
    byId("time-totals").replaceChildren(...shown.map(([kind, length]) => total(kind, length)));
    byId("time-faster").hidden = !advice.length;
    byId("time-advice").replaceChildren(...advice.map(({ text }) => element("li", {}, text)));
    byId("waterfall").replaceChildren(...rows.slice(0, this.shown).map((row) => rowOf(row, seconds)));
    byId("waterfall-more").hidden = rows.length <= this.shown;
    setText(byId("waterfall-more"), texts.time.more(Math.min(ROWS_AT_ONCE, rows.length - this.shown)));
  }
}

/** @param {string} kind @param {number} seconds */
function total(kind, seconds) {
  const mark = element("i", { className: "time-mark" });
  mark.style.background = `var(--time-${kind})`;
  const name = texts.time.kinds[/** @type {keyof typeof texts.time.kinds} */ (kind)] || kind;
  return element("div", {}, element("dt", {}, mark, name), element("dd", {}, duration(seconds)));
}

/** @param {WaterfallRow} row @param {number} seconds of the whole run */
function rowOf(row, seconds) {
  const bar = element("span", { className: "waterfall-bar" });
  bar.style.background = barOf(row.spans, 0, seconds);
  const words = row.index === null ? row.title : `${row.index + 1} ${row.title}`;
  const name = row.index === null ? element("span", {}, words) : element("a", { href: `#step=${row.id}` }, words);
  const item = element("li", {}, name, bar, element("span", { className: "waterfall-time" }, duration(secondsOf(row))));
  if (row.failed) {
    item.dataset.tone = "bad";
  }
  return item;
}
