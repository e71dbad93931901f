// The link by which the details of a step open a file that the step names.
import { address } from "../../api.js";
import { element } from "../../dom.js";
import { texts } from "../../texts.js";
import { storedCopy } from "./paths.js";

/**
 * Opens the file on its desktop while that is there, else the copy that the agent handed over.
 *
 * @param {string} path
 * @param {readonly ChatFile[]} stored  files of the run
 * @param {import("./panels.js").Panels} panels
 * @returns {HTMLElement | null}
 */
export function fileLink(path, stored, panels) {
  const words = texts.panels.open(path);
  if (panels.open) {
    const link = element("button", { type: "button", className: "as-link" }, words);
    link.addEventListener("click", () => panels.openFile(path));
    return link;
  }
  const copy = storedCopy(stored, path);
  return copy && element("a", { href: address(`api/v0/files/${copy.id}`) }, words);
}
