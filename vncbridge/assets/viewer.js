// A live desktop in a page: noVNC, a bar with its state and its buttons, and reconnecting.
import RFB from "./novnc/core/rfb.js";
import { Backoff } from "./backoff.js";
import { SoftKeys } from "./softkeys.js";

const KEYS = {
  Esc: [[0xff1b, "Escape"]],
  Tab: [[0xff09, "Tab"]],
  "Ctrl-Alt-Del": [
    [0xffe3, "ControlLeft"],
    [0xffe9, "AltLeft"],
    [0xffff, "Delete"],
  ],
};
const SIGN_IN = "Sign in to see this desktop.";

function button(label, act, attributes = {}) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.addEventListener("click", act);
  return made;
}

function group(label, ...members) {
  const made = document.createElement("div");
  made.className = "viewer-group";
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", label);
  made.append(...members);
  return made;
}

export class Viewer {
  /**
   * @param {HTMLElement} host  is filled; give it a height
   * @param {{stream: string, status: string, login?: string}} addresses  relative to the page:
   *   the WebSocket, a resource that says in HTTP why it would not open, the sign-in page
   */
  constructor(host, { stream, status, login = "login" }) {
    this.stream = new URL(stream, document.baseURI);
    this.stream.protocol = this.stream.protocol === "https:" ? "wss:" : "ws:";
    this.status = new URL(status, document.baseURI);
    this.login = login;
    this.backoff = new Backoff();
    this.rfb = null;
    this.inControl = false;
    this.fits = true;
    this.timer = null;
    this.build(host);
  }

  build(host) {
    this.words = document.createElement("p");
    this.words.className = "viewer-status";
    this.words.setAttribute("role", "status");

    this.again = button("Connect again", () => this.retry(), { hidden: "" });
    this.softkeys = new SoftKeys((keysym) => this.rfb?.sendKey(keysym));
    this.keys = group(
      "Keys",
      ...Object.entries(KEYS).map(([name, chord]) => button(name, () => this.press(chord))),
      button("Keyboard", () => this.softkeys.show(), { class: "viewer-touch-only" }),
    );
    this.fitButton = button("Fit", () => this.fit(true));
    this.fullSize = button("1:1", () => this.fit(false), { "aria-label": "Actual size" });
    const sizes = group(
      "Size",
      this.fitButton,
      this.fullSize,
      button("Full screen", () => this.toggleFullScreen()),
    );
    this.take = button("Take control", () => this.control(!this.inControl), { class: "primary" });

    const bar = document.createElement("div");
    bar.className = "viewer-bar";
    bar.append(this.words, this.again, this.keys, sizes, this.take);

    this.note = document.createElement("div");
    this.note.className = "viewer-note";
    this.canvas = document.createElement("div");
    this.canvas.className = "viewer-canvas";
    const screen = document.createElement("div");
    screen.className = "viewer-screen";
    screen.append(this.note, this.canvas, this.softkeys.field);

    this.root = document.createElement("section");
    this.root.className = "viewer";
    this.root.setAttribute("aria-label", "Live desktop");
    this.root.append(bar, screen);
    // Before noVNC sees the key: in control every other key belongs to the desktop.
    this.root.addEventListener("keydown", (event) => this.leaveByKey(event), true);
    host.replaceChildren(this.root);
    this.fit(true);
    this.show("disconnected", "Not connected");
  }

  connect() {
    this.show("connecting", "Connecting …");
    this.opened = false;
    const rfb = new RFB(this.canvas, this.stream.href, { shared: true, wsProtocols: ["binary"] });
    rfb.viewOnly = true;
    rfb.background = "transparent";
    rfb.scaleViewport = this.fits;
    rfb.addEventListener("connect", () => this.connected());
    rfb.addEventListener("disconnect", () => this.disconnected(rfb));
    rfb.addEventListener("securityfailure", (event) => {
      this.refuse(event.detail.reason || "The desktop refused the connection.");
    });
    this.rfb = rfb;
    this.control(false);
  }

  close() {
    clearTimeout(this.timer);
    const rfb = this.rfb;
    this.rfb = null;
    rfb?.disconnect();
    this.show("disconnected", "Disconnected");
  }

  retry() {
    clearTimeout(this.timer);
    this.backoff.reset();
    this.connect();
  }

  connected() {
    this.opened = true;
    this.backoff.connected(performance.now());
    this.control(false);
  }

  async disconnected(rfb) {
    if (this.rfb !== rfb) {
      return;
    }
    this.rfb = null;
    this.control(false);
    const wait = this.backoff.lost(performance.now());
    const refusal = await this.refusal();
    if (refusal !== null) {
      this.refuse(refusal);
    } else if (wait === null) {
      this.show("disconnected", "Disconnected: the desktop does not answer");
    } else {
      this.waitFor(Math.ceil(wait / 1000));
    }
  }

  waitFor(seconds) {
    if (seconds <= 0) {
      this.connect();
      return;
    }
    const { used, tries } = this.backoff;
    this.show("waiting", `Reconnecting in ${seconds} s (try ${used} of ${tries})`);
    this.timer = setTimeout(() => this.waitFor(seconds - 1), 1000);
  }

  // A browser keeps the HTTP answer to a failed WebSocket to itself, so ask beside it.
  async refusal() {
    let answer;
    try {
      answer = await fetch(this.status, { headers: { Accept: "application/json" } });
    } catch {
      return null;
    }
    if (answer.status === 401) {
      return SIGN_IN;
    }
    if (answer.status === 403 || answer.status === 404) {
      const body = await answer.json().catch(() => ({}));
      return answer.status === 404 ? "This desktop has ended." : body.message || "Not allowed.";
    }
    return null;
  }

  refuse(reason) {
    clearTimeout(this.timer);
    this.rfb = null;
    this.show("refused", reason);
    if (reason === SIGN_IN) {
      const link = document.createElement("a");
      link.href = `${this.login}?next=${encodeURIComponent(location.pathname)}`;
      link.textContent = "Sign in";
      this.note.append(link);
    }
  }

  control(wanted) {
    const rfb = this.rfb;
    this.inControl = Boolean(wanted && rfb && this.opened);
    if (rfb) {
      rfb.viewOnly = !this.inControl;
    }
    // While watching, the page's own pointer must stay the page's, and Tab must pass by.
    this.canvas.inert = !this.inControl;
    this.root.dataset.control = String(this.inControl);
    this.keys.hidden = !this.inControl;
    this.take.textContent = this.inControl ? "Give back" : "Take control";
    if (rfb && this.opened) {
      this.show(
        "connected",
        this.inControl
          ? "You are in control. Ctrl+Alt+Shift+G gives back."
          : "Live, you are watching",
      );
      if (this.inControl) {
        rfb.focus({ preventScroll: true });
      }
    }
  }

  leaveByKey(event) {
    const leaves = event.code === "KeyG" && event.ctrlKey && event.altKey && event.shiftKey;
    if (leaves && this.inControl) {
      event.preventDefault();
      event.stopPropagation();
      this.rfb.blur();
      this.control(false);
      this.take.focus();
    }
  }

  press(chord) {
    if (!this.inControl) {
      return;
    }
    for (const [keysym, code] of chord) {
      this.rfb.sendKey(keysym, code, true);
    }
    for (const [keysym, code] of [...chord].reverse()) {
      this.rfb.sendKey(keysym, code, false);
    }
    this.rfb.focus({ preventScroll: true });
  }

  fit(wanted) {
    this.fits = wanted;
    this.fitButton.setAttribute("aria-pressed", String(wanted));
    this.fullSize.setAttribute("aria-pressed", String(!wanted));
    if (this.rfb) {
      this.rfb.scaleViewport = wanted;
    }
  }

  toggleFullScreen() {
    if (document.fullscreenElement) {
      document.exitFullscreen();
    } else {
      this.root.requestFullscreen?.().catch(() => {});
    }
  }

  show(state, words) {
    const live = state === "connected";
    this.root.dataset.state = state;
    this.words.textContent = words;
    this.note.textContent = live ? "" : words;
    this.canvas.hidden = !live && state !== "connecting";
    this.again.hidden = state !== "disconnected" && state !== "waiting";
    this.take.disabled = !live;
    if (!live) {
      this.keys.hidden = true;
    }
    this.root.dispatchEvent(new CustomEvent("state", { detail: { state, words }, bubbles: true }));
  }
}
