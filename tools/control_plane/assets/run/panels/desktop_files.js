// The files of a run's desktop: look into folders, read, save, and add files by dropping them.
import { fetchKeyed } from "../../../viewer/page_key.js";
import { Refused, address, get, post } from "../../api.js";
import { element, keyed, setText } from "../../dom.js";
import { OverlappingCalls } from "../../overlapping_calls.js";
import { texts } from "../../texts.js";
import { OutputView } from "../conversation/output_view.js";
import { absolutePath, crumbsOf, folderOf, nameOf } from "./paths.js";

/** @typedef {{name: string, absolute_path_string: string, is_dir: boolean}} Entry */

const MOST_SHOWN = 256 * 1024;
const words = texts.panels;

export class DesktopFiles {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
    this.below = "";
    this.folder = "";
    /** The folder that was requested last, which may not be shown yet. */
    this.wanted = "";
    this.calls = new OverlappingCalls();
    this.working = "";
    this.crumbs = element("nav", { className: "crumbs", "aria-label": words.folder });
    this.words = element("p", { className: "hint", role: "status" });
    this.list = element("ul", { className: "listing" });
    this.none = element("p", { className: "empty", hidden: true }, words.emptyFolder);
    this.opened = element("section", { className: "opened-file", hidden: true });
    const chosen = element("input", { type: "file", multiple: true, className: "unseen", id: "files-chosen" });
    chosen.addEventListener("change", async () => {
      await this.store([...chosen.files]);
      chosen.value = "";
    });
    const add = element("label", { className: "as-button", htmlFor: "files-chosen" }, words.addFiles);
    const again = element("button", { type: "button" }, words.refresh);
    again.addEventListener("click", () => this.refresh());
    const head = element("div", { className: "panel-head" }, element("h2", {}, words.files), chosen, add, again);
    host.append(head, this.crumbs, this.words, this.opened, this.none, this.list, element("p", { className: "hint drop-hint" }, words.drop));
    host.addEventListener("shown", () => this.refresh());
    this.acceptDrops();
  }

  /** @param {string} below  of the desktop's routes */
  async show(below) {
    if (below !== this.below) {
      this.below = below;
      this.folder = this.wanted = "";
      this.working = "";
      this.closeFile();
    }
    await this.refresh();
  }

  async refresh() {
    if (!this.host.hidden && this.below) {
      try {
        const working = await this.workingFolder();
        // A person may have chosen a folder meanwhile.
        await this.enter(this.wanted || working);
      } catch (/** @type {any} */ error) {
        setText(this.words, error.message);
      }
    }
  }

  async workingFolder() {
    this.working ||= (await get(`${this.below}/context-config?parts=false`)).working_dir;
    return this.working;
  }

  /** Shows a folder, unless another one is requested meanwhile.  @param {string} folder */
  async enter(folder) {
    const call = this.calls.begin();
    this.wanted = folder;
    try {
      const found = await post(`${this.below}/list-directory?path=${encodeURIComponent(folder)}`);
      if (folder === this.wanted && call.accept()) {
        this.folder = folder;
        this.draw(found.contents);
      }
    } catch (/** @type {any} */ error) {
      if (call.isLatest()) {
        this.wanted = this.folder;
        setText(this.words, error.message);
      }
    }
  }

  /** @param {Entry[]} entries */
  draw(entries) {
    keyed(
      this.crumbs,
      crumbsOf(this.folder, this.working, words.working),
      ({ path }) => path,
      ({ name, path }) => this.button(name, () => this.enter(path)),
      (made, { path }) => made.setAttribute("aria-current", String(path === this.folder)),
    );
    this.none.hidden = entries.length > 0;
    keyed(
      this.list,
      entries,
      (entry) => entry.absolute_path_string,
      (entry) => this.row(entry),
      () => {},
    );
  }

  /** @param {string} name @param {() => unknown} work */
  button(name, work) {
    const made = element("button", { type: "button", className: "as-link" }, name);
    made.addEventListener("click", work);
    return made;
  }

  /** @param {Entry} entry */
  row({ name, absolute_path_string: path, is_dir: isFolder }) {
    if (isFolder) {
      return element("li", { className: "folder" }, this.button(`${name}/`, () => this.enter(path)));
    }
    return element("li", {}, this.button(name, () => this.openFile(path)), this.saveLink(path, words.save));
  }

  /** @param {string} path @param {string} label */
  saveLink(path, label) {
    const link = element("a", { href: this.addressOf(path), download: nameOf(path) }, label);
    link.setAttribute("aria-label", words.saveNamed(nameOf(path)));
    return link;
  }

  /** @param {string} path @param {number} [limit] */
  addressOf(path, limit) {
    return address(`${this.below}/read-file?path=${encodeURIComponent(path)}${limit ? `&limit=${limit}` : ""}`);
  }

  /** Shows a file and its folder; the path may be relative to the working directory.  @param {string} named */
  async open(named) {
    try {
      const path = absolutePath(named, await this.workingFolder());
      await Promise.all([this.enter(folderOf(path)), this.openFile(path)]);
    } catch (/** @type {any} */ error) {
      setText(this.words, error.message);
    }
  }

  /** @param {string} path */
  async openFile(path) {
    try {
      const answer = await fetchKeyed(this.addressOf(path, MOST_SHOWN));
      if (!answer.ok) {
        throw new Refused(answer.status, await answer.json().catch(() => ({})));
      }
      this.showText(path, await answer.text());
    } catch (/** @type {any} */ error) {
      this.closeFile();
      setText(this.words, `${nameOf(path)}: ${error.message}`);
    }
  }

  /** @param {string} path @param {string} text */
  showText(path, text) {
    setText(this.words, "");
    const close = element("button", { type: "button" }, words.close);
    close.addEventListener("click", () => this.closeFile());
    const title = element("h3", { tabindex: "-1" }, nameOf(path));
    const content = text.includes("\0") ? element("p", { className: "hint" }, words.binary) : new OutputView(words.content, text || words.emptyFile).element;
    const cut = text.length >= MOST_SHOWN ? element("p", { className: "hint" }, words.beginning) : null;
    this.opened.replaceChildren(...[element("div", { className: "panel-head" }, title, this.saveLink(path, words.save), close), content, cut].filter(Boolean));
    this.opened.hidden = false;
    title.focus({ preventScroll: true });
    this.opened.scrollIntoView({ block: "nearest" });
  }

  closeFile() {
    this.opened.hidden = true;
    this.opened.replaceChildren();
  }

  acceptDrops() {
    const { host } = this;
    const hasFiles = (/** @type {DragEvent} */ event) => Boolean(event.dataTransfer?.types.includes("Files"));
    host.addEventListener("dragover", (event) => {
      if (hasFiles(event)) {
        // Without it the browser would open the file in place of this page.
        event.preventDefault();
        host.dataset.drop = "true";
      }
    });
    host.addEventListener("dragleave", () => delete host.dataset.drop);
    host.addEventListener("drop", async (event) => {
      if (hasFiles(event)) {
        event.preventDefault();
        delete host.dataset.drop;
        await this.store([...(event.dataTransfer?.files ?? [])]);
      }
    });
  }

  /** Stores files in the folder in view, one after another; the first refusal ends it.  @param {File[]} files */
  async store(files) {
    const folder = this.folder;
    for (const file of files) {
      setText(this.words, words.storing(file.name));
      const path = absolutePath(file.name, folder);
      const answer = await fetchKeyed(address(`${this.below}/write-file?path=${encodeURIComponent(path)}`), {
        method: "POST",
        body: file,
        // A file that is there already stays as it is.
        headers: { "Content-Type": "application/octet-stream", "If-None-Match": "*" },
      });
      if (!answer.ok) {
        const { message = "" } = await answer.json().catch(() => ({}));
        setText(this.words, answer.status === 412 ? words.exists(file.name) : `${file.name}: ${message || answer.status}`);
        break;
      }
      setText(this.words, words.stored(path));
    }
    if (this.wanted === folder) {
      await this.enter(folder);
    }
  }
}
