// Small pictures of live desktops: sent only while they can be seen, and when their screen changed.
import { subscribe } from "./updates.js";

const WIDTH = 640;

class Shot {
  /**
   * @param {HTMLImageElement} image
   * @param {string} desktopId
   */
  constructor(image, desktopId) {
    this.image = image;
    this.topic = `shot:${desktopId}?width=${WIDTH}`;
    this.visible = false;
    /** @type {(() => void) | null} */
    this.unsubscribe = null;
  }

  /** Subscribes while the picture can be seen, and not otherwise. */
  update() {
    const wanted = this.visible && !document.hidden && this.image.isConnected;
    if (wanted && !this.unsubscribe) {
      this.unsubscribe = subscribe(this.topic, { picture: (data) => this.show(data) });
    } else if (!wanted && this.unsubscribe) {
      this.unsubscribe();
      this.unsubscribe = null;
    }
  }

  /** @param {Uint8Array<ArrayBuffer>} data */
  show(data) {
    const old = this.image.src;
    this.image.src = URL.createObjectURL(new Blob([data], { type: "image/jpeg" }));
    this.image.hidden = false;
    if (old.startsWith("blob:")) {
      URL.revokeObjectURL(old);
    }
  }
}

/** @type {Map<Element, Shot>} */
const shots = new Map();

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const shot = shots.get(entry.target);
    if (shot) {
      shot.visible = entry.isIntersecting;
      shot.update();
      forget(entry.target, shot);
    }
  }
});

/**
 * Forgets a place that left the page: its observer reports that as the last entry.
 *
 * @param {Element} place
 * @param {Shot} shot
 */
function forget(place, shot) {
  if (!place.isConnected) {
    seen.unobserve(place);
    shots.delete(place);
    URL.revokeObjectURL(shot.image.src);
  }
}

/**
 * @param {Element} place
 * @param {HTMLImageElement} image
 * @param {string} desktopId
 */
export function watchShot(place, image, desktopId) {
  endShot(place);
  shots.set(place, new Shot(image, desktopId));
  seen.observe(place);
}

/**
 * Ends the pictures of a place: none replaces what it shows from now on.
 *
 * @param {Element} place
 */
export function endShot(place) {
  const shot = shots.get(place);
  if (shot) {
    shot.visible = false;
    shot.update();
    seen.unobserve(place);
    shots.delete(place);
  }
}

document.addEventListener("visibilitychange", () => {
  for (const shot of shots.values()) {
    shot.update();
  }
});
