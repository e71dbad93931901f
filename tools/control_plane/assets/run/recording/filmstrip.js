// Small pictures along the time line, all of them in one picture of the service.
import { element } from "../../dom.js";
import { clamp } from "./time_scale.js";

/** @typedef {{url: string, tiles: number, columns: number, width: number, height: number}} Sprite */
/** @typedef {import("./time_scale.js").TimeScale} TimeScale */

/** The tile that shows a moment. @param {Sprite} sprite @param {number} time @param {number} total */
export function tileAt(sprite, time, total) {
  return total > 0 ? clamp(Math.floor((time / total) * sprite.tiles), 0, sprite.tiles - 1) : 0;
}

/** Shows a tile as the background of an element. @param {HTMLElement} node @param {Sprite} sprite @param {number} tile @param {number} height pixels */
export function showTile(node, sprite, tile, height) {
  const scale = height / sprite.height;
  const rows = Math.ceil(sprite.tiles / sprite.columns);
  const column = tile % sprite.columns;
  const row = Math.floor(tile / sprite.columns);
  node.style.backgroundImage = `url("${sprite.url}")`;
  node.style.backgroundSize = `${sprite.width * sprite.columns * scale}px ${sprite.height * rows * scale}px`;
  node.style.backgroundPosition = `${-column * sprite.width * scale}px ${-row * height}px`;
}

export class Filmstrip {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Sprite | null} */
    this.sprite = null;
  }

  /** @param {Sprite | null} sprite */
  show(sprite) {
    if (!sprite || sprite.url === this.sprite?.url) {
      return;
    }
    const image = new Image();
    // The service makes it at the first request; a recording that cannot be read has none.
    image.addEventListener("load", () => {
      this.sprite = sprite;
      this.place.hidden = false;
      this.loaded();
    });
    image.src = sprite.url;
  }

  loaded() {}

  /** @param {TimeScale} scale */
  draw(scale) {
    const { place, sprite } = this;
    const height = place.clientHeight;
    if (!sprite || !height || !scale.width) {
      return;
    }
    const wide = (sprite.width / sprite.height) * height;
    const count = Math.max(1, Math.round(scale.width / wide));
    while (place.children.length > count) {
      place.lastElementChild?.remove();
    }
    while (place.children.length < count) {
      place.append(element("span"));
    }
    [...place.children].forEach((node, index) => {
      const time = scale.from + ((index + 0.5) / count) * scale.seconds;
      showTile(/** @type {HTMLElement} */ (node), sprite, tileAt(sprite, time, scale.total), height);
    });
  }
}
