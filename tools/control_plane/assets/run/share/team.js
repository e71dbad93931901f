// The people of the team with whom a run is shared: each is a box to tick.
import { get, put, remove } from "../../api.js";
import { byId, element, keyed, troubled } from "../../dom.js";
import { texts } from "../../texts.js";

/** @typedef {{id: string, name: string, role: string}} Member */
/** @typedef {{people: string[], team: Member[]}} Shares */

const words = texts.share;
const EVERYONE = { id: "*", name: words.everyone, role: "" };

export class Team {
  /** @param {string} id  of the chat, as it is in an address */
  constructor(id) {
    this.below = `api/v0/runs/${id}/people`;
    this.calls = 0;
  }

  /** Shows with whom the run is shared; fails if this person may not share it. */
  read() {
    return this.shownAfter(get(this.below));
  }

  /** Draws the answer to a call, unless a later call has begun: it would undo a choice. @param {Promise<Shares>} call */
  async shownAfter(call) {
    this.calls += 1;
    const mine = this.calls;
    const shares = await call;
    if (mine === this.calls) {
      this.draw(shares);
    }
  }

  /** @param {Shares} shares */
  draw({ people, team }) {
    byId("share-team").hidden = team.length === 0;
    keyed(
      byId("share-people"),
      [EVERYONE, ...team],
      (member) => member.id,
      (member) => this.line(member),
      (line, member) => {
        const box = /** @type {HTMLInputElement} */ (line.querySelector("input"));
        box.checked = people.includes(member.id);
      },
    );
  }

  /** @param {Member} member */
  line({ id, name, role }) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () =>
      troubled(async () => {
        const wanted = box.checked;
        const call = wanted ? put : remove;
        try {
          await this.shownAfter(call(`${this.below}/${encodeURIComponent(id)}`));
        } catch (error) {
          box.checked = !wanted;
          throw error;
        }
      }),
    );
    const facts = role && element("span", { className: "share-facts" }, words.roles[/** @type {"member"} */ (role)]);
    return element("li", {}, element("label", {}, box, name, facts || null));
  }
}
