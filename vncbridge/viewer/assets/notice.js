// What stands where the screen would be: why it is not there, and what can be done about it.
import { button } from "./people.js";
import { texts } from "./texts.js";

/** @typedef {{more?: string, again?: boolean, login?: string}} Ways  `login` is the address of the sign-in page */

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

export class Notice {
  /** @param {() => void} retry */
  constructor(retry) {
    this.element = document.createElement("div");
    this.element.className = "viewer-note";
    // The bar says the same to those who listen.
    this.words = document.createElement("p");
    this.words.setAttribute("aria-hidden", "true");
    this.more = document.createElement("p");
    this.more.className = "viewer-more";
    this.again = button(texts.screen.again, retry);
    this.link = document.createElement("a");
    this.link.className = "viewer-link";
    this.link.textContent = texts.screen.signIn;
    this.element.append(this.words, this.more, this.again, this.link);
    this.show("");
  }

  /** @param {string} words @param {Ways} ways */
  show(words, { more = "", again = false, login = "" } = {}) {
    this.element.hidden = words === "";
    this.words.textContent = words;
    this.more.textContent = more;
    this.more.hidden = more === "";
    this.again.hidden = !again;
    this.link.hidden = login === "";
    if (login) {
      this.link.href = login;
    }
  }
}
