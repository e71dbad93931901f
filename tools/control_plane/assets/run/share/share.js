// Share links of a run: made, listed with their creators and ends, and revoked.
import { address, get, post, remove, serverNow } from "../../api.js";
import { byId, element, keyed, setText, troubled } from "../../dom.js";
import { OverlappingCalls } from "../../overlapping_calls.js";
import { texts } from "../../texts.js";
import { Team } from "./team.js";
import { LIFETIMES, linksOf, remaining, scopesOf, shownBy } from "./links.js";

/** @typedef {import("./links.js").Token} Token */

const words = texts.share;

export class Share {
  /**
   * @param {string} id  of the chat, as it is in an address
   * @param {() => string} place  the query that opens the moment that is shown now
   */
  constructor(id, place) {
    this.id = id;
    this.place = place;
    this.desktop = "";
    this.team = new Team(id);
    this.links = this.withTeam = false;
    this.reads = new OverlappingCalls();
    this.box = byId("share-box");
    byId("share").addEventListener("click", () => this.toggle());
    byId("share-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      troubled(() => this.make());
    });
    byId("share-copy").addEventListener("click", () => this.copy());
  }

  /**
   * Returns whether the person may share the run: an owner by links too, a member with the team.
   *
   * @param {string} role
   */
  async permit(role) {
    this.links = role === "owner";
    for (const part of [byId("share-title"), byId("share-form"), byId("share-links")]) {
      part.hidden = !this.links;
    }
    const shared = role === "owner" || role === "member" ? this.team.read() : Promise.reject();
    this.withTeam = await shared.then(
      () => !byId("share-team").hidden,
      () => false,
    );
    return this.links || this.withTeam;
  }

  /**
   * Offers the live view while there is a desktop to watch.
   *
   * @param {Pick<Chat, "desktop_id">} chat
   * @param {boolean} busy
   */
  show(chat, busy) {
    this.desktop = busy ? chat.desktop_id || "" : "";
    byId("share-live").disabled = !this.desktop;
    byId("share-live-label").title = this.desktop ? "" : words.noDesktop;
  }

  toggle() {
    this.box.hidden = !this.box.hidden;
    byId("share").setAttribute("aria-expanded", String(!this.box.hidden));
    if (!this.box.hidden) {
      troubled(() => Promise.all([this.withTeam && this.team.read(), this.links && this.list()]));
      (this.links ? byId("share-make") : byId("share-people").querySelector("input")).focus();
    }
  }

  /** Draws the links, unless those of a later call are drawn. */
  async list() {
    const read = this.reads.begin();
    const { tokens } = await get("api/v0/tokens");
    if (!read.accept()) {
      return;
    }
    const links = linksOf(tokens, this.id);
    byId("share-none").hidden = links.length > 0;
    keyed(
      byId("share-links"),
      links,
      (link) => link.id,
      (link) => this.line(link),
      (line, link) => setText(/** @type {HTMLElement} */ (line.querySelector(".share-facts")), factsOf(link)),
    );
  }

  /** @param {Token} link */
  line(link) {
    const revoke = element("button", { type: "button", className: "danger" }, words.revoke);
    revoke.addEventListener("click", () =>
      troubled(async () => {
        await remove(`api/v0/tokens/${link.id}`);
        if (byId("share-made").dataset.link === link.id) {
          byId("share-made").hidden = true;
        }
        await this.list();
        byId("share-make").focus();
      }),
    );
    return element("li", {}, element("span", {}, shownBy(link)), element("span", { className: "share-facts" }), revoke);
  }

  async make() {
    const form = byId("share-form");
    const wanted = { conversation: form.conversation.checked, desktop: form.live.checked ? this.desktop : "" };
    const token = await post("api/v0/tokens", {
      scopes: scopesOf(this.id, wanted),
      name: document.title.slice(0, 80),
      ttl_s: LIFETIMES[form.lifetime.value],
    });
    const page = `/runs/${this.id}${this.place()}`;
    const link = byId("share-link");
    link.value = address(`login?next=${encodeURIComponent(page)}#code=${token.token}`);
    byId("share-made").dataset.link = token.id;
    byId("share-made").hidden = false;
    setText(byId("share-words"), words.onlyNow);
    link.focus();
    link.select();
    await this.list();
  }

  async copy() {
    const link = byId("share-link");
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
      setText(byId("share-words"), words.copied);
    } catch {
      // Without TLS a browser may refuse; the link is selected, so that Ctrl+C does it.
      setText(byId("share-words"), words.copyByKeys);
    }
  }
}

/** @param {Token} link */
function factsOf({ created_by: creator, expires_at: ends }) {
  const now = serverNow();
  return [creator && words.madeBy(creator), ends === null ? words.noEnd : words.worksFor(remaining(ends - now))]
    .filter(Boolean)
    .join(", ");
}
