// A live desktop in a page: noVNC, a bar with its state and its buttons, and reconnecting.
import RFB from "./novnc/core/rfb.js";
import { Backoff } from "./backoff.js";
import { Bar, group } from "./bar.js";
import { Clipboard } from "./clipboard.js";
import { FileDrop } from "./drop.js";
import { Keys } from "./keys.js";
import { Lease, viewerId } from "./lease.js";
import { messageOf, Notice } from "./notice.js";
import { fetchKeyed } from "./page_key.js";
import { Asked, askName, button, People, Privacy, rememberedName } from "./people.js";
import { Sizes } from "./sizes.js";
import { SoftKeys } from "./softkeys.js";
import { REACH_MS, StreamAddress } from "./stream_address.js";
import { texts } from "./texts.js";
import { Touch } from "./touch.js";

// The server's close code for "a person has this desktop in private".
const PRIVATE = 4001;
const controlWords = texts.control;
const screenWords = texts.screen;

export class Viewer {
  /**
   * @param {HTMLElement} host  is filled; give it a height
   * @param {{stream: string, status: string, login?: string}} addresses  relative to the page:
   *   the WebSocket, a resource that says in HTTP why it would not open, the sign-in page
   * @param {{watchOnly?: boolean, bare?: boolean}} wished  without control, without a bar
   */
  constructor(host, { stream, status, login = "login" }, { watchOnly = false, bare = false } = {}) {
    this.stream = new URL(stream, document.baseURI);
    this.stream.protocol = this.stream.protocol === "https:" ? "wss:" : "ws:";
    this.status = new URL(status, document.baseURI);
    this.login = login;
    this.viewer = viewerId();
    this.stream.searchParams.set("viewer", this.viewer);
    const tickets = new URL(`${this.status.href.replace(/\/$/, "")}/tickets`);
    // The served page says whether desktops may have addresses of their own: where they have none,
    // as on one machine, nothing is asked before the stream is opened.
    const asks = document.querySelector('meta[name="live-tickets"]') !== null;
    this.place = new StreamAddress(this.stream, tickets, asks, { watchOnly });
    /** Counts connections, as a later one replaces one whose ticket is being asked for. */
    this.attempt = 0;
    this.lease = new Lease(this.status, this.viewer, (state) => this.leased(state));
    this.clipboard = new Clipboard(this.status, this.viewer, (text) => {
      this.words.textContent = text;
    });
    this.hidden = false;
    this.asking = false;
    this.backoff = new Backoff();
    /** @type {RFB | null} */
    this.rfb = null;
    this.inControl = false;
    this.opened = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.words = document.createElement("p");
    this.words.className = "viewer-status";
    this.words.setAttribute("role", "status");

    this.people = new People();
    this.softkeys = new SoftKeys((keysym) => this.rfb?.sendKey(keysym));
    this.special = new Keys(
      (keysym, code, down) => this.rfb?.sendKey(keysym, code, down),
      () => this.rfb?.focus({ preventScroll: true }),
    );
    const clipboardButtons = [this.clipboard.button, ...this.clipboard.transfers];
    this.keys = group(texts.keys.label, ...this.special.buttons, ...clipboardButtons, hint(controlWords.giveBackByKeys));
    this.keys.classList.add("viewer-keys");
    this.keyboard = button("⌨", () => this.softkeys.show(), { class: "viewer-touch-only", "aria-label": texts.keys.keyboard });
    this.sizes = new Sizes({ changed: () => this.resize(), root: () => this.root });
    this.privacy = new Privacy(() => this.changePrivacy());
    this.take = button(controlWords.take, () => this.takeOrGive(), { class: "primary viewer-take" });
    this.asked = new Asked(
      () => this.tried(() => this.lease.release()),
      () => this.tried(() => this.lease.keep()),
    );

    this.bar = new Bar({
      words: this.words,
      take: this.take,
      keyboard: this.keyboard,
      more: [this.people.line, this.sizes.element, this.privacy.element],
      below: [this.keys, this.clipboard.panel],
    });

    this.notice = new Notice(() => this.retry());
    this.canvas = document.createElement("div");
    this.canvas.className = "viewer-canvas";
    this.screen = document.createElement("div");
    this.screen.className = "viewer-screen";
    this.still = document.createElement("img");
    this.still.className = "viewer-still";
    this.still.alt = screenWords.asItWas;
    this.still.hidden = true;
    this.screen.append(this.still, this.canvas, this.notice.element, this.softkeys.field);
    this.touch = new Touch(this.screen, this.canvas);
    new FileDrop(this.screen, this.status, this.viewer, {
      allowed: () => this.inControl,
      report: (text) => {
        this.words.textContent = text;
      },
    });

    this.root = document.createElement("section");
    this.root.className = "viewer";
    this.root.setAttribute("aria-label", screenWords.label);
    this.root.dataset.bare = String(bare);
    this.root.dataset.watchOnly = String(watchOnly);
    this.root.append(this.bar.line, this.bar.lines, this.asked.line, this.screen, this.bar.sheet);
    // Before noVNC sees the key: in control every other key belongs to the desktop.
    this.root.addEventListener("keydown", (event) => this.ownKey(event), true);
    host.replaceChildren(this.root);
    this.show("disconnected", screenWords.notConnected);
  }

  connect() {
    this.show("connecting", screenWords.connecting);
    this.opened = false;
    if (!this.lease.followed) {
      this.lease.follow();
    }
    this.attempt += 1;
    this.openNext(this.attempt);
  }

  /** @param {number} attempt */
  async openNext(attempt) {
    const { url, isOwn } = await this.place.next();
    if (attempt !== this.attempt) {
      return;
    }
    try {
      this.open(new WebSocket(url.href, ["binary"]), isOwn);
    } catch (error) {
      if (!isOwn) {
        throw error;
      }
      // The browser refuses the address itself.
      this.place.unreachable();
      this.connect();
    }
  }

  /** @param {WebSocket} socket @param {boolean} isOwn  of the desktop, which may be out of reach */
  open(socket, isOwn) {
    let reaching = isOwn;
    // Before noVNC hears of it, while there is still a picture to keep.
    socket.addEventListener("close", (event) => {
      if (this.rfb === rfb) {
        this.closed(event);
      }
    });
    const unreached = () => {
      if (reaching && this.rfb === rfb) {
        this.rfb = null;
        this.place.unreachable();
        rfb.disconnect();
        this.connect();
      }
    };
    const patience = isOwn ? setTimeout(unreached, REACH_MS) : undefined;
    socket.addEventListener("open", () => {
      reaching = false;
      clearTimeout(patience);
    });
    const rfb = new RFB(this.canvas, socket, { shared: true });
    rfb.viewOnly = true;
    rfb.background = "transparent";
    rfb.scaleViewport = this.sizes.fits;
    rfb.addEventListener("connect", () => this.connected());
    rfb.addEventListener("disconnect", () => {
      clearTimeout(patience);
      if (reaching) {
        unreached();
      } else {
        this.disconnected(rfb);
      }
    });
    rfb.addEventListener("securityfailure", (event) => {
      this.refuse(event.detail.reason || screenWords.refused);
    });
    this.rfb = rfb;
    this.control(false);
  }

  /** @param {CloseEvent} event */
  closed(event) {
    if (this.rfb === null) {
      return;
    }
    this.hidden = event.code === PRIVATE;
    if (this.opened) {
      this.still.src = this.rfb.toDataURL("image/jpeg", 0.8);
      this.still.hidden = false;
    }
  }

  close() {
    clearTimeout(this.timer);
    this.attempt += 1;
    this.lease.stop();
    const rfb = this.rfb;
    this.rfb = null;
    rfb?.disconnect();
    this.show("disconnected", screenWords.disconnected, { again: true });
  }

  retry() {
    clearTimeout(this.timer);
    this.backoff.reset();
    this.connect();
  }

  connected() {
    this.opened = true;
    this.hidden = false;
    this.still.hidden = true;
    this.backoff.connected(performance.now());
    this.control(this.lease.state?.you);
  }

  /** @param {RFB} rfb */
  async disconnected(rfb) {
    if (this.rfb !== rfb) {
      return;
    }
    this.rfb = null;
    this.control(false);
    if (this.hidden) {
      this.sayPrivate();
      return;
    }
    const wait = this.backoff.lost(performance.now());
    const refusal = await this.refusal();
    if (this.rfb !== null) {
      return;
    }
    if (refusal !== null) {
      this.refuse(refusal);
    } else if (this.hidden) {
      this.sayPrivate();
      // It may have been given back while we asked.
      if (this.lease.state !== null) {
        this.leased(this.lease.state);
      }
    } else if (wait === null) {
      this.show("disconnected", screenWords.noAnswer, { again: true });
    } else {
      this.waitFor(Math.ceil(wait / 1000));
    }
  }

  sayPrivate() {
    const name = this.lease.state?.holder.name || controlWords.person;
    this.show("private", this.asking ? controlWords.askedPerson(name) : controlWords.hasPrivate(name), { more: controlWords.pictureLater });
  }

  /** The server's word on who is in control. @param {import("./lease.js").LeaseState} state */
  leased(state) {
    this.people.show(state);
    this.asked.show(state);
    const answered = this.asking && state.asked === null;
    this.asking = this.asking && !answered;
    this.label();
    const elsewhere = state.private && !state.you;
    if (this.hidden && !elsewhere && this.rfb === null) {
      this.retry();
    } else if (this.hidden) {
      this.sayPrivate();
    } else if (Boolean(state.you) !== this.inControl) {
      this.control(state.you);
    } else if (answered && state.holder.kind === "person") {
      this.words.textContent = controlWords.keeps(state.holder.name);
    }
  }

  /** The one button says what it does just now. */
  label() {
    const held = this.lease.state?.holder.kind === "person";
    this.take.textContent = this.inControl
      ? controlWords.giveBack
      : this.asking
        ? controlWords.asked
        : held
          ? controlWords.ask
          : controlWords.take;
    this.take.title = this.inControl ? controlWords.giveBackKeys : "";
    const state = this.root.dataset.state;
    this.take.disabled = this.asking || (state !== "connected" && state !== "private");
  }

  async takeOrGive() {
    if (this.inControl) {
      await this.tried(() => this.lease.release());
      this.control(false);
      return;
    }
    this.take.disabled = true;
    this.bar.open(false);
    const name = rememberedName() || (await askName(this.screen));
    this.label();
    if (!name) {
      return;
    }
    await this.tried(async () => {
      const answer = await this.lease.take(name, this.privacy.wanted);
      if (answer.granted) {
        this.control(true);
      } else {
        this.asking = true;
        this.words.textContent = controlWords.askedPerson(answer.holder.name);
        this.label();
      }
    });
  }

  changePrivacy() {
    if (this.inControl) {
      this.tried(() => this.lease.take(rememberedName(), this.privacy.wanted));
    }
  }

  /** @param {() => Promise<unknown>} work */
  async tried(work) {
    try {
      await work();
    } catch (error) {
      this.words.textContent = messageOf(error);
    }
  }

  /** @param {number} seconds */
  waitFor(seconds) {
    if (seconds <= 0) {
      this.connect();
      return;
    }
    const { used, tries } = this.backoff;
    this.show("waiting", screenWords.reconnecting(seconds, used, tries), { again: true });
    this.timer = setTimeout(() => this.waitFor(seconds - 1), 1000);
  }

  // A browser keeps the HTTP answer to a failed WebSocket to itself, so ask beside it.
  /** @returns {Promise<string | null>} */
  async refusal() {
    let answer;
    try {
      answer = await fetchKeyed(this.status, { headers: { Accept: "application/json" } });
    } catch {
      return null;
    }
    if (answer.status === 401) {
      return screenWords.signInFirst;
    }
    if (answer.status === 403 || answer.status === 404) {
      const body = await answer.json().catch(() => ({}));
      return answer.status === 404 ? screenWords.ended : body.message || screenWords.notAllowed;
    }
    const status = await answer.json().catch(() => ({}));
    this.hidden = Boolean(status.lease?.private) && !this.lease.state?.you;
    return null;
  }

  /** @param {string} reason */
  refuse(reason) {
    clearTimeout(this.timer);
    this.attempt += 1;
    this.rfb = null;
    this.lease.stop();
    const login =
      reason === screenWords.signInFirst ? `${this.login}?next=${encodeURIComponent(location.pathname)}` : "";
    this.show("refused", reason, { login });
  }

  /** @param {boolean | undefined} wanted */
  control(wanted) {
    const rfb = this.rfb;
    // An inert canvas loses the focus to the page, where the keyboard reaches nothing.
    const typing = this.inControl && this.canvas.contains(document.activeElement);
    this.inControl = Boolean(wanted && rfb && this.opened);
    if (!this.inControl) {
      this.clipboard.toggle(false);
      this.special.up();
    }
    if (rfb) {
      rfb.viewOnly = !this.inControl;
    }
    // While watching, the page's own pointer must stay the page's, and Tab must pass by.
    this.canvas.inert = !this.inControl;
    this.touch.watch(Boolean(rfb && this.opened) && !this.inControl);
    this.keyboard.hidden = !this.inControl;
    this.root.dataset.control = String(this.inControl);
    this.keys.hidden = !this.inControl;
    this.label();
    if (rfb && this.opened) {
      this.show("connected", this.inControl ? screenWords.controlled : screenWords.watched);
      if (this.inControl) {
        rfb.focus({ preventScroll: true });
      } else if (typing) {
        this.take.focus({ preventScroll: true });
      }
    }
  }

  /** The keys of this page while in control: Ctrl+Alt+Shift and G, C or V. @param {KeyboardEvent} event */
  ownKey(event) {
    /** @type {Record<string, () => void>} */
    const acts = {
      KeyG: () => this.leave(),
      KeyC: () => this.clipboard.fetchCopy(),
      KeyV: () => this.clipboard.sendCopy(),
    };
    const act = event.ctrlKey && event.altKey && event.shiftKey && acts[event.code];
    if (act && this.inControl) {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  }

  leave() {
    this.rfb?.blur();
    this.takeOrGive();
    this.take.focus();
  }

  resize() {
    this.touch.reset();
    if (this.rfb) {
      this.rfb.scaleViewport = this.sizes.fits;
    }
  }

  /** @param {string} state @param {string} words @param {import("./notice.js").Ways} notice */
  show(state, words, notice = {}) {
    const live = state === "connected";
    this.root.dataset.state = state;
    this.words.textContent = words;
    this.notice.show(live ? "" : words, notice);
    this.canvas.hidden = !live && state !== "connecting";
    this.label();
    if (!live) {
      this.keys.hidden = true;
    }
    this.root.dispatchEvent(new CustomEvent("state", { detail: { state, words }, bubbles: true }));
  }
}

/** @param {string} text */
function hint(text) {
  const made = document.createElement("span");
  made.className = "viewer-hint";
  made.textContent = text;
  return made;
}
