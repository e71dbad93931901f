// An endless list that holds only the pages near the screen.
//
// A page of the API is one section. A section far from the screen keeps its height and gives its
// cards up; near the screen it reads them again by its cursor. So memory stays flat, however far a
// person scrolls.
import { element, troubled } from "../dom.js";

const NEAR = "1200px 0px";

/** @typedef {{chats: Chat[], next_cursor: string | null}} RunsPage */
/** @typedef {HTMLElement & {cursor: string | null, filled: boolean}} PageSection */

export class RunPages {
  /**
   * @param {HTMLElement} list
   * @param {(cursor: string | null) => Promise<RunsPage>} read
   * @param {(cards: HTMLElement, chats: Chat[]) => void} draw
   * @param {(none: boolean) => void} began  called with whether the first page is empty
   */
  constructor(list, read, draw, began) {
    this.list = list;
    this.read = read;
    this.draw = draw;
    this.began = began;
    this.asked = 0;
    this.near = new IntersectionObserver((entries) => entries.forEach((entry) => this.seen(entry)), { rootMargin: NEAR });
  }

  /** Reads the list anew. */
  begin() {
    this.asked += 1;
    this.near.disconnect();
    this.list.replaceChildren();
    this.add(null);
  }

  /** @param {IntersectionObserverEntry} entry */
  seen({ target, isIntersecting }) {
    const page = /** @type {PageSection} */ (target);
    // An entry may be older than the search that has removed its section.
    if (isIntersecting && page.isConnected) {
      this.fill(page);
    } else if (page.filled) {
      page.style.minHeight = `${page.offsetHeight}px`;
      page.firstElementChild?.replaceChildren();
      page.filled = false;
    }
  }

  /** @param {PageSection} page */
  async fill(page) {
    if (page.filled) {
      return;
    }
    page.filled = true;
    const round = this.asked;
    await troubled(async () => {
      try {
        const found = await this.read(page.cursor);
        if (round !== this.asked) {
          return;
        }
        this.draw(/** @type {HTMLElement} */ (page.firstElementChild), found.chats);
        page.style.minHeight = "";
        if (found.next_cursor && page === this.list.lastElementChild) {
          this.add(found.next_cursor);
        }
        if (!page.cursor) {
          this.began(found.chats.length === 0);
        }
      } catch (error) {
        page.filled = false;
        throw error;
      }
    });
  }

  /** @param {string | null} cursor */
  add(cursor) {
    const page = element("section", { className: "run-page" }, element("ul", { className: "cards small" }));
    page.cursor = cursor;
    page.filled = false;
    this.list.append(page);
    this.near.observe(page);
  }
}
