// Small pictures of live desktops: fetched only while they can be seen, and shown only
// when they changed.
import { picture } from "./api.js";

const PERIOD = 3000;
const QUERY = "scaled_width=640&scaled_height=360&format=jpeg&quality=70";

class Shot {
  /**
   * @param {HTMLImageElement} image
   * @param {string} desktopId
   */
  constructor(image, desktopId) {
    this.image = image;
    this.path = `api/v0/desktops/${encodeURIComponent(desktopId)}/desktop/screenshot?${QUERY}`;
    /** @type {string | null} */
    this.etag = null;
    this.visible = false;
    this.busy = false;
  }

  async refresh() {
    if (this.busy || !this.visible || document.hidden) {
      return;
    }
    this.busy = true;
    try {
      const found = await picture(this.path, this.etag);
      if (found) {
        const old = this.image.src;
        this.etag = found.etag;
        this.image.src = URL.createObjectURL(found.blob);
        this.image.hidden = false;
        if (old.startsWith("blob:")) {
          URL.revokeObjectURL(old);
        }
      }
    } catch {
      // The next round tries again; the list says when a desktop is gone.
    }
    this.busy = false;
  }
}

const shots = new Map();

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const shot = shots.get(entry.target);
    if (shot) {
      shot.visible = entry.isIntersecting;
      shot.refresh();
    }
  }
});

/**
 * @param {Element} place
 * @param {HTMLImageElement} image
 * @param {string} desktopId
 */
export function watchShot(place, image, desktopId) {
  shots.set(place, new Shot(image, desktopId));
  seen.observe(place);
}

export function refreshShots() {
  for (const [place, shot] of shots) {
    if (place.isConnected) {
      shot.refresh();
    } else {
      seen.unobserve(place);
      shots.delete(place);
      URL.revokeObjectURL(shot.image.src);
    }
  }
}

setInterval(refreshShots, PERIOD);
document.addEventListener("visibilitychange", refreshShots);
