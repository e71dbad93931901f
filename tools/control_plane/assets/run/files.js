// Files that a run handed over, and its recordings, to download.
import { address } from "../api.js";
import { byId, element, keyed } from "../dom.js";
import { size } from "../words.js";

/** @param {ChatFile[]} files */
export function showFiles(files) {
  const shown = files.filter((file) => file.kind === "attachment" || file.kind === "recording");
  byId("files-box").hidden = shown.length === 0;
  keyed(
    byId("files"),
    shown,
    (file) => file.id,
    (file) =>
      element(
        "li",
        {},
        element("a", { href: address(`api/v0/files/${file.id}`) }, file.name),
        element("span", {}, ` ${size(file.size)}`),
      ),
    () => {},
  );
}
