// Files that are dropped on the picture: each is stored in the desktop's downloads.

import { messageOf } from "./notice.js";
import { fetchKeyed } from "./page_key.js";
import { texts } from "./texts.js";

/** Whether a drag carries files, and not text or a link of some page. @param {DragEvent} event */
const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

export class FileDrop {
  /**
   * @param {HTMLElement} screen  where files are dropped
   * @param {URL} status  the desktop's resource; its downloads are below it
   * @param {string} viewer  distinguishes this page from all others
   * @param {{allowed: () => boolean, report: (text: string) => void}} page
   */
  constructor(screen, status, viewer, { allowed, report }) {
    this.status = status;
    this.viewer = viewer;
    this.allowed = allowed;
    this.report = report;
    this.screen = screen;
    screen.addEventListener("dragover", (event) => this.over(event));
    screen.addEventListener("dragleave", () => this.mark(false));
    screen.addEventListener("drop", (event) => this.dropped(event));
  }

  /** @param {boolean} wanted */
  mark(wanted) {
    this.screen.dataset.drop = String(wanted);
  }

  /** @param {DragEvent} event */
  over(event) {
    if (event.dataTransfer && hasFiles(event)) {
      // Without it the browser would open the file in place of this page.
      event.preventDefault();
      event.dataTransfer.dropEffect = this.allowed() ? "copy" : "none";
      this.mark(this.allowed());
    }
  }

  /** @param {DragEvent} event */
  async dropped(event) {
    if (!event.dataTransfer || !hasFiles(event)) {
      return;
    }
    event.preventDefault();
    this.mark(false);
    if (this.allowed()) {
      await this.store([...event.dataTransfer.files]);
    } else {
      this.report(texts.drop.needsControl);
    }
  }

  /** Stores files one after another; the first refusal ends it. @param {File[]} files */
  async store(files) {
    for (const [index, file] of files.entries()) {
      this.report(texts.drop.storing(file.name, index + 1, files.length));
      try {
        const path = await this.put(file);
        this.report(texts.drop.stored(path));
      } catch (error) {
        this.report(`${file.name}: ${messageOf(error)}`);
        return;
      }
    }
  }

  /** @param {File} file @returns {Promise<string>} its path on the desktop */
  async put(file) {
    const address = new URL(`${this.status.href.replace(/\/$/, "")}/downloads`);
    address.searchParams.set("name", file.name);
    address.searchParams.set("viewer", this.viewer);
    const answer = await fetchKeyed(address, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      throw new Error(body.message || texts.screen.answered(answer.status));
    }
    return body.path;
  }
}
