// The runs that a person has selected, and what can be done with all of them.
import { address, put, remove } from "../api.js";
import { byId, setText } from "../dom.js";
import { texts } from "../texts.js";

const words = texts.runs;

export class RunSelection {
  /** @param {() => void} changed  called after runs were deleted or pinned */
  constructor(changed) {
    /** @type {Set<string>} */
    this.ids = new Set();
    this.changed = changed;
    const dialog = byId("delete-dialog");
    byId("compare").addEventListener("click", () => this.compare());
    byId("pin-selected").addEventListener("click", () => this.pin());
    byId("delete-selected").addEventListener("click", () => {
      setText(byId("delete-title"), words.deleteTitle(this.ids.size));
      dialog.showModal();
    });
    byId("delete-cancel").addEventListener("click", () => dialog.close());
    byId("delete-confirm").addEventListener("click", () => {
      dialog.close();
      this.each((id) => remove(`api/v0/chats/${id}`));
    });
    byId("select-none").addEventListener("click", () => this.clear());
    this.show();
  }

  /** @param {string} id */
  has(id) {
    return this.ids.has(id);
  }

  /** @param {string} id @param {boolean} selected */
  set(id, selected) {
    if (selected) {
      this.ids.add(id);
    } else {
      this.ids.delete(id);
    }
    this.show();
  }

  show(problem = "") {
    setText(byId("selection-problem"), problem);
    byId("selection-problem").hidden = !problem;
    byId("selection").hidden = this.ids.size === 0;
    setText(byId("selected-count"), words.selected(this.ids.size));
    byId("compare").disabled = this.ids.size !== 2;
  }

  clear() {
    this.ids.clear();
    this.show();
    this.changed();
  }

  compare() {
    const [a, b] = this.ids;
    location.assign(address(`compare?${new URLSearchParams({ a, b })}`));
  }

  pin() {
    return this.each((id) => put(`api/v0/runs/${id}/pin`));
  }

  /**
   * Applies a change to each selected run; one that fails stays selected, and its reason is shown.
   *
   * @param {(id: string) => Promise<unknown>} change
   */
  async each(change) {
    let problem = "";
    for (const id of [...this.ids]) {
      try {
        await change(encodeURIComponent(id));
        this.ids.delete(id);
      } catch (/** @type {any} */ error) {
        problem = error.message;
      }
    }
    this.show(problem);
    this.changed();
  }
}
