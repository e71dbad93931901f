// Tabs of a page: one panel is shown, and the tabs are one stop of the Tab key.
import { byId } from "../dom.js";

/**
 * Selects the tab of a panel; without `asked`, only if a person has selected none before.
 *
 * @typedef {(id: string, asked?: boolean) => void} Select
 */

/**
 * @param {HTMLElement} list  with the role `tablist`
 * @returns {Select}
 */
export function tabs(list) {
  const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=tab]")]);
  let chosen = false;
  const panelOf = (/** @type {HTMLElement} */ tab) => byId(/** @type {string} */ (tab.getAttribute("aria-controls")));

  /** @param {HTMLElement} wanted */
  const select = (wanted) => {
    for (const tab of all) {
      tab.setAttribute("aria-selected", String(tab === wanted));
      tab.tabIndex = tab === wanted ? 0 : -1;
      panelOf(tab).hidden = tab !== wanted;
    }
    panelOf(wanted).dispatchEvent(new CustomEvent("shown"));
  };

  for (const tab of all) {
    tab.addEventListener("click", () => {
      chosen = true;
      select(tab);
    });
    tab.addEventListener("keydown", (event) => {
      const shown = all.filter((each) => !each.hidden);
      const offset = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (offset) {
        event.preventDefault();
        chosen = true;
        const next = shown[(shown.indexOf(tab) + offset + shown.length) % shown.length];
        select(next);
        next.focus();
      }
    });
  }
  return (id, asked = false) => {
    const found = all.find((tab) => tab.getAttribute("aria-controls") === id);
    if (found && (asked || !chosen)) {
      chosen ||= asked;
      select(found);
    }
  };
}
