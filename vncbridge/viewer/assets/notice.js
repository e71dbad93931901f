// What stands where the screen would be: why it is not there, and what can be done about it.
import { button } from "./people.js";

export class Notice {
  constructor(retry) {
    this.element = document.createElement("div");
    this.element.className = "viewer-note";
    // The bar says the same to those who listen.
    this.words = document.createElement("p");
    this.words.setAttribute("aria-hidden", "true");
    this.more = document.createElement("p");
    this.more.className = "viewer-more";
    this.again = button("Connect again", retry);
    this.link = document.createElement("a");
    this.link.className = "viewer-link";
    this.link.textContent = "Sign in";
    this.element.append(this.words, this.more, this.again, this.link);
    this.show("");
  }

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
