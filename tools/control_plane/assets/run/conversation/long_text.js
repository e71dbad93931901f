// Markdown of any length: the first piece at once, the others when a person wants them, each in a task
// of its own.
import { element } from "../../dom.js";
import { texts } from "../../texts.js";
import { markdown } from "./markdown.js";
import { piecesOf } from "./text_pieces.js";

const pause = () => new Promise((resolve) => setTimeout(resolve));

/** @param {string} text */
function pieceOf(text) {
  const piece = element("div", { className: "piece" });
  piece.append(markdown(text));
  return piece;
}

/** @param {string} text @returns {HTMLElement} */
export function longText(text) {
  const [first, ...others] = piecesOf(text);
  const box = element("div", { className: "markdown" }, pieceOf(first));
  if (others.length) {
    const more = element("button", { type: "button", className: "show-all" }, texts.conversation.showAll(text.length));
    more.addEventListener("click", async () => {
      more.remove();
      for (const piece of others) {
        await pause();
        box.append(pieceOf(piece));
      }
    });
    box.append(more);
  }
  return box;
}
