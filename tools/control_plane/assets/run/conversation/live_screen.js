// The live view of a run's desktop on the run's page, while its agent works: watch, take control, give
// back. After a person gave control back, the box for the answer has the focus.
import { Viewer } from "../../../viewer/viewer.js";
import { address, get } from "../../api.js";
import { byId } from "../../dom.js";
import { coversDesktop } from "../../rights.js";
import { isAtWork } from "../../words.js";

export class LiveScreen {
  /** @param {() => void} givenBack  called when the person of this page gave control back */
  constructor(givenBack) {
    this.givenBack = givenBack;
    this.host = byId("live-screen");
    /** @type {any} */
    this.viewer = null;
    this.desktop = "";
    this.inControl = false;
  }

  /** Shows or removes the live view; returns whether it is shown.  @param {any} chat */
  async show(chat) {
    const wanted = isAtWork(chat) && chat.mode === "computer_use" && chat.desktop_id ? chat.desktop_id : "";
    if (wanted !== this.desktop) {
      this.desktop = wanted;
      this.close();
      if (wanted && (await this.mayWatch(wanted)) && this.desktop === wanted) {
        this.open(wanted);
      }
    }
    this.host.hidden = this.viewer === null;
    return this.viewer !== null;
  }

  /** A share link may cover the run without its desktop.  @param {string} desktop */
  async mayWatch(desktop) {
    if (!(await coversDesktop(desktop, "view", "control"))) {
      return false;
    }
    try {
      const { status } = await get(`api/v0/desktops/${encodeURIComponent(desktop)}`);
      return status !== "lost";
    } catch {
      return false;
    }
  }

  /** @param {string} desktop */
  open(desktop) {
    const below = `api/v0/desktops/${encodeURIComponent(desktop)}/desktop`;
    const addresses = { stream: address(`${below}/vnc`), status: address(below), login: address("login") };
    this.viewer = new Viewer(this.host, addresses);
    this.inControl = false;
    this.watch = new MutationObserver(() => this.changed());
    this.watch.observe(this.viewer.root, { attributes: true, attributeFilter: ["data-control"] });
    this.viewer.connect();
  }

  changed() {
    const held = this.inControl;
    this.inControl = this.viewer.root.dataset.control === "true";
    if (held && !this.inControl) {
      this.givenBack();
    }
  }

  close() {
    this.watch?.disconnect();
    this.viewer?.close();
    this.viewer = null;
    this.host.replaceChildren();
  }
}
