// Files that are dropped on the picture: each is stored in the desktop's downloads.

/** Whether a drag carries files, and not text or a link of some page. */
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

  mark(wanted) {
    this.screen.dataset.drop = String(wanted);
  }

  over(event) {
    if (hasFiles(event)) {
      // Without it the browser would open the file in place of this page.
      event.preventDefault();
      event.dataTransfer.dropEffect = this.allowed() ? "copy" : "none";
      this.mark(this.allowed());
    }
  }

  async dropped(event) {
    if (!hasFiles(event)) {
      return;
    }
    event.preventDefault();
    this.mark(false);
    if (this.allowed()) {
      await this.store([...event.dataTransfer.files]);
    } else {
      this.report("Take control to put files on the desktop.");
    }
  }

  /** Stores files one after another; the first refusal ends it. */
  async store(files) {
    for (const [index, file] of files.entries()) {
      this.report(`Storing ${file.name} (${index + 1} of ${files.length}) …`);
      try {
        const path = await this.put(file);
        this.report(`Stored as ${path}`);
      } catch (error) {
        this.report(`${file.name}: ${error.message}`);
        return;
      }
    }
  }

  async put(file) {
    const address = new URL(`${this.status.href.replace(/\/$/, "")}/downloads`);
    address.searchParams.set("name", file.name);
    address.searchParams.set("viewer", this.viewer);
    const answer = await fetch(address, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      throw new Error(body.message || `The desktop answered ${answer.status}.`);
    }
    return body.path;
  }
}
