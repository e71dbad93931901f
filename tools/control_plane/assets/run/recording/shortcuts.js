// Keys of the page of a run, and the list of them.
import { byId, element } from "../../dom.js";
import { SHORTCUTS, commandOf, keyWords } from "./keys.js";

const WRITING = "input:not([type='checkbox']), textarea, select, [contenteditable='true']";
const PRESSED_BY_SPACE = "button, a, summary, input, [role='tab']";

/** @param {Record<string, () => void>} commands by the names of the table of keys */
export function listenToKeys(commands) {
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const command = commandOf(event);
    if (!command || event.defaultPrevented || document.querySelector("dialog[open]") || target.closest?.(WRITING)) {
      return;
    }
    // In the list Enter presses a row, so that space plays the video there too.
    if (event.key === " " && target.closest?.(PRESSED_BY_SPACE) && !target.closest("#steps")) {
      return;
    }
    if (event.key.startsWith("Arrow") && target.closest?.("[role='tablist'], [role='separator']")) {
      return;
    }
    event.preventDefault();
    commands[command]?.();
  });
}

/** Fills the list of keys; it is shown by its button and by its key. */
export function keyList() {
  const dialog = byId("keys");
  const rows = SHORTCUTS.map(({ keys, words }) =>
    element("div", {}, element("dt", {}, ...keys.map((key) => element("kbd", {}, keyWords(key)))), element("dd", {}, words)),
  );
  byId("keys-list").replaceChildren(...rows);
  byId("keys-close").addEventListener("click", () => dialog.close());
  return () => dialog.showModal();
}
