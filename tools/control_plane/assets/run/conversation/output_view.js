// A long text with line numbers, terminal colours, search and a button to copy it. Only the lines in
// view are elements, and the text is read in portions, so that no size of it blocks the page.
import { element, rem, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { AnsiReader, plain } from "./ansi.js";
import { linesInView, linesOf, linesWith } from "./lines_window.js";

const ROW = rem(1.25);
const LONGEST_LINE = 1000;
/** Lines that are read without a pause. */
const PORTION = 500;
const words = texts.output;

const pause = () => new Promise((resolve) => setTimeout(resolve));

export class OutputView {
  /** @param {string} label @param {string} text @param {string} [tone] */
  constructor(label, text, tone = "") {
    this.text = text;
    /** @type {string[]} */
    this.lines = [];
    /** @type {import("./ansi.js").Piece[][]} */
    this.pieces = [];
    /** @type {number[]} */
    this.found = [];
    this.at = -1;
    this.sheet = element("div", { className: "output-sheet" });
    this.box = element("div", { className: "output-lines", tabindex: "0", role: "group", "aria-label": label }, this.sheet);
    this.search = element("input", { type: "search", className: "output-search", placeholder: words.search, "aria-label": words.find });
    this.count = element("span", { className: "output-count", role: "status" });
    this.copy = element("button", { type: "button" }, words.copy);
    const head = element("div", { className: "output-head" }, element("h3", {}, label), this.count, this.search, this.copy);
    this.element = element("section", { className: "output", "data-tone": tone }, head, this.box);
    this.box.addEventListener("scroll", () => this.draw());
    this.search.addEventListener("input", () => this.find());
    this.search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.next(event.shiftKey ? -1 : 1);
      }
    });
    this.copy.addEventListener("click", () => this.toClipboard());
    this.ready = this.read();
  }

  async read() {
    const { text } = this;
    const lines = linesOf(text, LONGEST_LINE);
    const reader = new AnsiReader();
    for (let from = 0; from < lines.length; from += PORTION) {
      for (const line of lines.slice(from, from + PORTION)) {
        this.pieces.push(reader.line(line));
        this.lines.push(plain(line));
      }
      this.resize();
      if (from + PORTION < lines.length) {
        await pause();
      }
    }
  }

  resize() {
    const count = this.pieces.length;
    this.sheet.style.height = `${count * ROW}px`;
    this.sheet.style.setProperty("--digits", String(String(count).length));
    this.box.style.height = `${Math.min(18, Math.max(1, count)) * ROW + 14}px`;
    this.search.hidden = count < 2;
    this.draw();
  }

  draw() {
    const { from, to } = linesInView({
      top: this.box.scrollTop,
      height: this.box.clientHeight || 18 * ROW,
      row: ROW,
      count: this.pieces.length,
    });
    const rows = [];
    for (let number = from; number < to; number += 1) {
      rows.push(this.line(number));
    }
    this.sheet.replaceChildren(...rows);
  }

  /** @param {number} number */
  line(number) {
    const code = element("code", {}, ...this.pieces[number].map((piece) => element("span", { className: piece.style }, piece.text)));
    const row = element("div", { className: "output-line", "data-number": String(number + 1) }, code);
    row.style.top = `${number * ROW}px`;
    if (this.found.includes(number)) {
      row.dataset.found = number === this.found[this.at] ? "this" : "yes";
    }
    return row;
  }

  find() {
    this.found = linesWith(this.lines, this.search.value);
    this.at = -1;
    this.next(1);
  }

  /** @param {number} offset */
  next(offset) {
    const { found } = this;
    if (found.length) {
      this.at = (this.at + offset + found.length) % found.length;
      this.box.scrollTop = Math.max(0, found[this.at] * ROW - this.box.clientHeight / 2);
    }
    const place = found.length ? words.match(this.at + 1, found.length) : words.notFound;
    setText(this.count, this.search.value ? place : "");
    this.draw();
  }

  async toClipboard() {
    await navigator.clipboard.writeText(plain(this.text));
    setText(this.copy, words.copied);
  }
}
