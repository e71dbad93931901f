// What changed in the repositories that a run's agent works in, while the panel is shown.
//
// The desktop reports each change over a WebSocket. It is open while the panel is in view, and before
// that until there is a repository: only then the panel has a tab.
import { ticketed } from "../../../viewer/page_key.js";
import { address } from "../../api.js";
import { element, keyed, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { OutputView } from "../conversation/output_view.js";
import { changedFiles, coloured } from "./diff.js";
import { nameOf } from "./paths.js";

/** @typedef {{repo_root: string, branch: string, unified_diff: string, removed?: boolean}} Repository */
/** @typedef {import("./diff.js").ChangedFile} ChangedFile */

const words = texts.panels;

export class Changes {
  /**
   * @param {HTMLElement} host
   * @param {string} id  of the chat, as it is in an address
   * @param {() => void} found  called when there is a repository
   */
  constructor(host, id, found) {
    this.host = host;
    this.id = id;
    this.found = found;
    this.wanted = false;
    this.connecting = false;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Map<string, Repository>} */
    this.repositories = new Map();
    this.none = element("p", { className: "empty" }, words.noRepository);
    this.list = element("div", { className: "repositories" });
    host.append(element("div", { className: "panel-head" }, element("h2", {}, words.changes)), this.none, this.list);
    host.addEventListener("shown", () => this.follow());
    new MutationObserver(() => this.follow()).observe(host, { attributeFilter: ["hidden"] });
  }

  /** Whether the agent works in a repository, or did. */
  get any() {
    return this.repositories.size > 0;
  }

  /** @param {boolean} wanted  whether the desktop is there */
  show(wanted) {
    this.wanted = wanted;
    this.follow();
  }

  /** Connects if the panel is in view, or there is no repository yet, else disconnects. */
  follow() {
    const shown = this.wanted && (!this.host.hidden || !this.any);
    if (!shown) {
      this.socket?.close();
      this.socket = null;
    } else if (!this.socket && !this.connecting) {
      this.connect();
    }
  }

  async connect() {
    this.connecting = true;
    const { href } = await ticketed(address(`api/v0/chats/${this.id}/git/watch`).replace(/^http/, "ws"));
    this.connecting = false;
    const socket = new WebSocket(href);
    this.socket = socket;
    // It may be out of view again.
    this.follow();
    let begun = false;
    socket.addEventListener("message", ({ data }) => {
      if (!begun) {
        // The first message has all repositories.
        begun = true;
        this.repositories.clear();
      }
      this.received(JSON.parse(data));
    });
    // A new connection is made when the panel is shown the next time, or the run has an event.
    socket.addEventListener("close", () => {
      if (this.socket === socket) {
        this.socket = null;
      }
    });
  }

  /** @param {{repositories?: Repository[]}} message */
  received({ repositories = [] }) {
    for (const repository of repositories) {
      if (repository.removed) {
        this.repositories.delete(repository.repo_root);
      } else {
        this.repositories.set(repository.repo_root, repository);
      }
    }
    this.draw();
    if (this.any) {
      this.found();
      this.follow();
    }
  }

  draw() {
    this.none.hidden = this.repositories.size > 0;
    keyed(
      this.list,
      [...this.repositories.values()],
      (repository) => repository.repo_root,
      () => element("section", { className: "repository" }, element("h3", {}), element("p", { className: "hint" }), element("div", { className: "changed-files" })),
      (made, repository) => this.update(made, repository),
    );
  }

  /** @param {HTMLElement} made @param {Repository} repository */
  update(made, { repo_root: root, branch, unified_diff: diff }) {
    const [title, line, list] = /** @type {HTMLElement[]} */ ([...made.children]);
    setText(title, nameOf(root));
    const files = changedFiles(diff);
    // In place of a diff that is too long stands a sentence.
    setText(line, words.onBranch(branch, root, files.length || !diff ? words.changed(files.length) : diff));
    keyed(
      list,
      files,
      (file) => file.path,
      () => fileOf(),
      (element, file) => showFile(element, file),
    );
  }
}

/** @returns {any} */
function fileOf() {
  const summary = element("summary", {}, element("span", { className: "changed-path" }), element("span", { className: "lines-added" }), element("span", { className: "lines-removed" }));
  const made = element("details", { className: "changed-file" }, summary, element("div", {}));
  made.addEventListener("toggle", () => made.open && drawLines(made));
  return made;
}

/** @param {any} made @param {ChangedFile} file */
function showFile(made, file) {
  const [path, added, removed] = made.querySelector("summary").children;
  setText(path, file.path);
  setText(added, file.added ? `+${file.added}` : "");
  setText(removed, file.removed ? `−${file.removed}` : "");
  const text = coloured(file);
  if (made.text !== text) {
    made.text = text;
    made.drawn = false;
    if (made.open) {
      drawLines(made);
    }
  }
}

/** @param {any} made */
function drawLines(made) {
  if (!made.drawn) {
    made.drawn = true;
    made.lastElementChild.replaceChildren(new OutputView(words.diff, made.text).element);
  }
}
