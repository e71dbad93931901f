// The commands of a run's desktop: name, state, exit code, run time, the end of the output, terminate.
import { get, post, serverNow } from "../../api.js";
import { element, keyed, setText } from "../../dom.js";
import { OverlappingCalls } from "../../overlapping_calls.js";
import { texts } from "../../texts.js";
import { OutputView } from "../conversation/output_view.js";
import { processState, tail, uptime } from "./process_facts.js";

/** @typedef {import("./process_facts.js").Process} Process */

const MOST = 200;
const TAIL = 200;
/** Until a process that goes on is killed. */
const PATIENCE_MS = 3000;
const words = texts.panels;

export class Processes {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
    this.below = "";
    this.reads = new OverlappingCalls();
    /** @type {Process[]} */
    this.processes = [];
    this.list = element("ul", { className: "processes" });
    this.none = element("p", { className: "empty", hidden: true }, words.noProcesses);
    this.trouble = element("p", { className: "trouble", role: "alert", hidden: true });
    const again = element("button", { type: "button" }, words.refresh);
    again.addEventListener("click", () => this.refresh());
    const head = element("div", { className: "panel-head" }, element("h2", {}, words.processes), again);
    host.append(head, this.trouble, this.none, this.list);
    host.addEventListener("shown", () => this.refresh());
    // Only the words change: nothing is requested.
    setInterval(() => this.isShown() && this.showTimes(), 1000);
  }

  isShown() {
    return !this.host.hidden && this.below !== "";
  }

  /** Reads the processes again if they are in view.  @param {string} below  of the desktop's routes */
  async show(below) {
    this.below = below;
    await this.refresh();
  }

  async refresh() {
    if (this.isShown()) {
      const read = this.reads.begin();
      await this.attempt(async () => {
        const { processes } = await get(`${this.below}/processes/list?limit=${MOST}`);
        if (read.accept()) {
          this.processes = processes;
          this.draw();
        }
      });
    }
  }

  /** @param {() => Promise<unknown>} work */
  async attempt(work) {
    try {
      await work();
      this.trouble.hidden = true;
    } catch (/** @type {any} */ error) {
      setText(this.trouble, error.message);
      this.trouble.hidden = false;
    }
  }

  draw() {
    this.none.hidden = this.processes.length > 0;
    keyed(
      this.list,
      this.processes,
      (process) => process.id,
      (process) => this.row(process),
      (row, process) => this.update(row, process),
    );
    this.showTimes();
  }

  /** @param {Process} process */
  row({ id, name, command, workdir }) {
    const badge = element("span", { className: "badge" });
    const summary = element("summary", {}, badge, element("span", { className: "process-name" }, name || command.split("\n")[0]), element("span", { className: "process-time" }));
    const end = element("button", { type: "button", className: "danger process-end" }, words.terminate);
    end.setAttribute("aria-label", words.terminateNamed(name || command));
    const more = element(
      "div",
      { className: "process-more" },
      element("pre", { className: "process-command", tabindex: "0", "aria-label": words.command }, command),
      element("p", { className: "hint" }, words.within(workdir)),
      element("div", { className: "process-output" }),
      end,
    );
    const details = element("details", {}, summary, more);
    end.addEventListener("click", () => this.terminate(id));
    details.addEventListener("toggle", () => details.open && this.readOutput(row, id));
    const row = element("li", { className: "process" }, details);
    return row;
  }

  /** @param {any} row @param {Process} process */
  update(row, process) {
    const [word, tone] = processState(process, words);
    const badge = row.querySelector(".badge");
    setText(badge, word);
    badge.dataset.tone = tone;
    row.querySelector(".process-end").hidden = !process.running;
    if (row.querySelector("details").open) {
      this.readOutput(row, process.id);
    }
  }

  showTimes() {
    for (const process of this.processes) {
      const row = this.list.querySelector(`[data-key="${CSS.escape(process.id)}"] .process-time`);
      if (row) {
        setText(row, uptime(process, serverNow()));
      }
    }
  }

  /** @param {any} row @param {string} id */
  readOutput(row, id) {
    return this.attempt(async () => {
      const { output } = await get(`${this.below}/processes/${encodeURIComponent(id)}/output`);
      const place = row.querySelector(".process-output");
      if (place.dataset.text !== output || !place.firstChild) {
        place.dataset.text = output;
        const view = new OutputView(words.output, tail(output, TAIL) || words.noOutput);
        place.replaceChildren(view.element);
        await view.ready;
        view.box.scrollTop = view.box.scrollHeight;
      }
    });
  }

  /** @param {string} id */
  async terminate(id) {
    await this.attempt(async () => {
      const path = `${this.below}/processes/${encodeURIComponent(id)}`;
      await post(`${path}/signal`, { signal: "terminate", escalate_after_ms: PATIENCE_MS });
      await get(`${path}/output?wait_for=exit&timeout_ms=${2 * PATIENCE_MS}`);
    });
    await this.refresh();
  }
}
