// The desktop's clipboard as text, over its API; only the viewer in control may use it.
import { button } from "./people.js";

export class Clipboard {
  /** @param {URL} status  the desktop's resource; the clipboard is below it
   *  @param {string} viewer  distinguishes this page from all others */
  constructor(status, viewer) {
    this.address = new URL(`${status.href.replace(/\/$/, "")}/clipboard?viewer=${viewer}`);
    this.button = button("Clipboard", () => this.toggle(), { "aria-pressed": "false" });
    this.panel = document.createElement("div");
    this.panel.className = "viewer-clipboard";
    this.panel.hidden = true;
    this.text = document.createElement("textarea");
    this.text.rows = 4;
    this.text.setAttribute("aria-label", "Clipboard text");
    this.words = document.createElement("p");
    this.words.setAttribute("role", "status");
    this.panel.append(
      this.text,
      button("Copy from desktop", () => this.tried(() => this.read(), "This is on the desktop's clipboard.")),
      button("Put on desktop", () => this.tried(() => this.write(), "It is on the desktop's clipboard.")),
      this.words,
    );
  }

  toggle(wanted = this.panel.hidden) {
    this.panel.hidden = !wanted;
    this.button.setAttribute("aria-pressed", String(wanted));
    if (wanted) {
      this.text.focus();
    }
  }

  async read() {
    const answer = await this.ask({ method: "GET", headers: { Accept: "text/plain" } });
    this.text.value = await answer.text();
  }

  async write() {
    await this.ask({
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text: this.text.value }),
    });
  }

  async ask(options) {
    const answer = await fetch(this.address, { ...options, cache: "no-store" });
    if (!answer.ok) {
      const body = await answer.json().catch(() => ({}));
      throw new Error(body.message || `The desktop answered ${answer.status}.`);
    }
    return answer;
  }

  async tried(work, done) {
    try {
      await work();
      this.words.textContent = done;
    } catch (error) {
      this.words.textContent = error.message;
    }
  }
}
