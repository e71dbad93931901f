// How large the picture is: fitted, at its actual size, on the full screen, in a window of its own.
import { group } from "./bar.js";
import { button } from "./people.js";
import { texts } from "./texts.js";

export class Sizes {
  /** @param {{changed: () => void, root: () => HTMLElement}} page  `changed` is called after each change */
  constructor({ changed, root }) {
    this.fits = true;
    this.changed = changed;
    this.fitButton = button(texts.size.fit, () => this.fit(true));
    this.fullSize = button(texts.size.actualShort, () => this.fit(false), { "aria-label": texts.size.actual });
    const fullScreen = button(texts.size.fullScreen, () => toggleFullScreen(root()));
    this.element = group(texts.size.label, this.fitButton, this.fullSize, fullScreen);
    this.element.classList.add("viewer-sizes");
    if (window.opener === null) {
      this.element.append(button(texts.size.popOut, popOut, { class: "viewer-mouse-only" }));
    }
    this.mark();
  }

  /** @param {boolean} wanted */
  fit(wanted) {
    this.fits = wanted;
    this.mark();
    this.changed();
  }

  mark() {
    this.fitButton.setAttribute("aria-pressed", String(this.fits));
    this.fullSize.setAttribute("aria-pressed", String(!this.fits));
  }
}

function popOut() {
  window.open(location.href, "_blank", "popup,width=1320,height=860");
}

/** @param {HTMLElement} root */
function toggleFullScreen(root) {
  if (document.fullscreenElement) {
    document.exitFullscreen();
  } else {
    root.requestFullscreen?.().catch(() => {});
  }
}
