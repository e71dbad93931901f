// The side panels of a run whose desktop works: its processes, its files, and what changed in its
// repositories. Their tabs are there while the desktop is, and the credential may use it; that of the
// repositories only where there is one.
import { get } from "../../api.js";
import { byId } from "../../dom.js";
import { coversDesktop } from "../../rights.js";
import { Changes } from "./changes.js";
import { DesktopFiles } from "./desktop_files.js";
import { Processes } from "./processes.js";

const TABS = ["tab-processes", "tab-files", "tab-changes"];

export class Panels {
  /**
   * @param {string} id  of the chat, as it is in an address
   * @param {import("../tabs.js").Select} select
   */
  constructor(id, select) {
    this.select = select;
    this.processes = new Processes(byId("processes-panel"));
    this.files = new DesktopFiles(byId("files-panel"));
    this.changes = new Changes(byId("changes-panel"), id, () => this.showTabs());
    this.desktop = "";
    this.open = false;
  }

  /** Returns whether the panels came or went.  @param {Pick<Chat, "desktop_id"> & {rights?: string}} chat */
  async show(chat) {
    const before = this.open;
    const desktop = chat.desktop_id || "";
    const below = `api/v0/desktops/${encodeURIComponent(desktop)}`;
    if (desktop !== this.desktop) {
      this.desktop = desktop;
      const open = desktop !== "" && chat.rights === "write" && (await coversDesktop(desktop, "control")) && (await mayUse(below));
      if (this.desktop !== desktop) {
        return false;
      }
      this.offer(open);
    }
    if (this.open) {
      this.changes.show(true);
      await Promise.all([this.processes.show(below), this.files.show(below)]);
    }
    return this.open !== before;
  }

  /** @param {boolean} open */
  offer(open) {
    this.open = open;
    const selected = TABS.some((tab) => byId(tab).getAttribute("aria-selected") === "true");
    this.showTabs();
    if (!open) {
      this.changes.show(false);
      if (selected) {
        this.select("conversation-panel", true);
      }
    }
  }

  showTabs() {
    for (const tab of TABS) {
      byId(tab).hidden = !this.open || (tab === "tab-changes" && !this.changes.any);
    }
  }

  /** Shows a file of the desktop.  @param {string} path */
  async openFile(path) {
    this.select("files-panel", true);
    await this.files.open(path);
  }
}

/** Whether the desktop answers.  @param {string} below */
async function mayUse(below) {
  try {
    await get(`${below}/processes/list?limit=1`);
    return true;
  } catch {
    return false;
  }
}
