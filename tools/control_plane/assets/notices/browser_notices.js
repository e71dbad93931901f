// Notifications of the browser, where a person has enabled them, and the count in title and icon.
import { address } from "../api.js";
import { byId, setText } from "../dom.js";
import { texts } from "../texts.js";
import { ChatChanges } from "./changes.js";

const ENABLED = "deskhand-notify";
const SIDE = 64;
const words = texts.notices;
const title = document.title;
const icon = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="icon"]'));
const plainIcon = icon.href;

/** Whether the person of this browser wants notifications; private windows may have no storage. */
function isEnabled() {
  try {
    return localStorage.getItem(ENABLED) === "yes";
  } catch {
    return false;
  }
}

export class BrowserNotices {
  constructor() {
    this.changes = new ChatChanges();
    this.button = byId("notify");
    this.button.hidden = !("Notification" in window);
    this.button.addEventListener("click", () => this.toggle());
    this.draw();
  }

  async toggle() {
    const wanted = !this.on && (await Notification.requestPermission()) === "granted";
    try {
      localStorage.setItem(ENABLED, wanted ? "yes" : "no");
    } catch {
      // Then it must be enabled again in the next window.
    }
    this.draw();
  }

  get on() {
    return "Notification" in window && Notification.permission === "granted" && isEnabled();
  }

  draw() {
    this.button.setAttribute("aria-pressed", String(this.on));
    setText(this.button, this.on ? words.enabled : words.enable);
  }

  /** @param {readonly Chat[]} chats */
  update(chats) {
    for (const { id, title: name, kind } of this.changes.update(chats)) {
      if (this.on) {
        const shown = new Notification(words[kind], { body: name, tag: id });
        shown.addEventListener("click", () => {
          window.focus();
          location.assign(address(`runs/${encodeURIComponent(id)}`));
        });
      }
    }
  }
}

/** The count that was shown last. */
let shown = 0;

/** Shows how many agents need a person, in the title and the icon of the tab.
 *  @param {number} count */
export function showCount(count) {
  shown = count;
  document.title = count ? `(${count}) ${title}` : title;
  if (!count) {
    icon.href = plainIcon;
    return;
  }
  const image = new Image();
  image.addEventListener("load", () => {
    // The image may load after a later count was shown.
    if (count !== shown) {
      return;
    }
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.drawImage(image, 0, 0, SIDE, SIDE);
    pen.fillStyle = "#9a5b00";
    pen.beginPath();
    pen.arc(44, 44, 20, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = "#ffffff";
    pen.font = "bold 28px sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(count > 9 ? "9+" : String(count), 44, 46);
    icon.href = canvas.toDataURL();
  });
  image.src = plainIcon;
}
