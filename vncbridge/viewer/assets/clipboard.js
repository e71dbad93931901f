// The desktop's clipboard as text, over its API; only the viewer in control may use it.
//
// Ctrl+Alt+Shift+C copies it to this computer, Ctrl+Alt+Shift+V the other way. A browser permits that
// on secure origins only, which loopback is; elsewhere the panel opens, where texts are copied by hand.
import { messageOf } from "./notice.js";
import { fetchKeyed } from "./page_key.js";
import { button } from "./people.js";
import { texts } from "./texts.js";

const words = texts.clipboard;

export class Clipboard {
  /** @param {URL} status  the desktop's resource; the clipboard is below it
   *  @param {string} viewer  distinguishes this page from all others
   *  @param {(text: string) => void} report  shows what was done */
  constructor(status, viewer, report) {
    this.report = report;
    this.address = new URL(`${status.href.replace(/\/$/, "")}/clipboard?viewer=${viewer}`);
    this.button = button(words.open, () => this.toggle(), { "aria-pressed": "false" });
    this.transfers = [
      button(words.copyOut, () => this.fetchCopy(), { title: words.copyOutTitle }),
      button(words.pasteIn, () => this.sendCopy(), { title: words.pasteInTitle }),
    ];
    this.panel = document.createElement("div");
    this.panel.className = "viewer-clipboard";
    this.panel.hidden = true;
    this.text = document.createElement("textarea");
    this.text.rows = 4;
    this.text.setAttribute("aria-label", words.text);
    this.words = document.createElement("p");
    this.words.setAttribute("role", "status");
    this.panel.append(
      this.text,
      button(words.read, () => this.tried(() => this.read(), words.wasRead)),
      button(words.write, () => this.tried(() => this.write(), words.wasWritten)),
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

  /** Copies the desktop's clipboard to this computer. */
  async fetchCopy() {
    await this.transferred(words.copied, async () => {
      await this.read();
      await navigator.clipboard.writeText(this.text.value);
    });
  }

  /** Puts this computer's clipboard on the desktop. */
  async sendCopy() {
    await this.transferred(words.pasted, async () => {
      this.text.value = await navigator.clipboard.readText();
      await this.write();
    });
  }

  /** @param {string} done @param {() => Promise<void>} work */
  async transferred(done, work) {
    try {
      await work();
      this.report(done);
    } catch (error) {
      // Also a browser that gives no access to its clipboard.
      this.toggle(true);
      this.words.textContent = messageOf(error);
    }
  }

  /** @param {RequestInit} options */
  async ask(options) {
    const answer = await fetchKeyed(this.address, { ...options, cache: "no-store" });
    if (!answer.ok) {
      const body = await answer.json().catch(() => ({}));
      throw new Error(body.message || texts.screen.answered(answer.status));
    }
    return answer;
  }

  /** @param {() => Promise<void>} work @param {string} done */
  async tried(work, done) {
    try {
      await work();
      this.words.textContent = done;
    } catch (error) {
      this.words.textContent = messageOf(error);
    }
  }
}
