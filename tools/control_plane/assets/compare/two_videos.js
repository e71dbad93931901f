// Two run videos that show the same place of their runs: the second one follows the first.
import { byId, setText } from "../dom.js";
import { Player } from "../run/recording/player.js";
import { texts } from "../texts.js";
import { clock } from "../words.js";
import { following } from "./alignment.js";

/** @typedef {import("../run/recording/player.js").VideoPart} VideoPart */

// A smaller difference is not seen, and each seek interrupts the video.
const MOST_DRIFT = 0.35;
const [SLOWEST, FASTEST] = [0.25, 4];

export class TwoVideos {
  constructor() {
    /** @type {[number, number][]} */
    this.known = [[0, 0], [0.001, 0.001]];
    this.second = new Player(byId("video-b"), { shown: () => {}, changed: () => {} });
    this.first = new Player(byId("video-a"), { shown: () => this.follow(), changed: () => this.changed() });
    byId("compare-play").addEventListener("click", () => this.toggle());
    byId("compare-at").addEventListener("input", () => this.seek(Number(byId("compare-at").value)));
    this.changed();
  }

  /**
   * @param {VideoPart[]} a
   * @param {VideoPart[]} b
   * @param {[number, number][]} known moments that belong together
   */
  load(a, b, known) {
    this.known = known;
    for (const [player, parts, name] of /** @type {[Player, VideoPart[], string][]} */ ([[this.first, a, "a"], [this.second, b, "b"]])) {
      byId(`video-${name}`).hidden = !parts.length;
      byId(`no-video-${name}`).hidden = parts.length > 0;
      setText(byId(`no-video-${name}`), texts.compare.noVideo);
      if (parts.length) {
        player.load(parts);
      }
    }
    this.changed();
  }

  /** @param {number} at second of the first video */
  seek(at) {
    if (this.first.parts.length) {
      this.first.seek(at);
    }
    this.align(true);
  }

  /** Shows a moment that only the second run has. @param {number} at second of the second video */
  seekSecond(at) {
    this.seek(following(this.known.map(([one, other]) => [other, one]), at).at);
  }

  toggle() {
    this.first.toggle();
    this.follow();
  }

  follow() {
    byId("compare-at").value = String(this.first.time);
    setText(byId("compare-clock"), `${clock(this.first.time, true)} / ${clock(this.first.total, true)}`);
    this.align(false);
  }

  /** @param {boolean} exactly */
  align(exactly) {
    const { first, second } = this;
    if (!second.parts.length || !first.parts.length) {
      return;
    }
    const { at, rate } = following(this.known, first.time);
    second.setRate(Math.min(FASTEST, Math.max(SLOWEST, rate * first.video.playbackRate)));
    const drift = Math.abs(second.time - at);
    if (!second.video.seeking && (drift > MOST_DRIFT || (exactly && drift > 0.001) || (!first.playing && drift > 0.05))) {
      second.seek(at);
    }
    if (first.playing !== second.playing && at < second.total - 0.1) {
      second.toggle();
    } else if (!first.playing && second.playing) {
      second.video.pause();
    }
  }

  changed() {
    const { first } = this;
    byId("compare-at").max = String(first.total);
    setText(byId("compare-play"), first.playing ? texts.compare.pause : texts.compare.play);
    byId("compare-play").disabled = !first.parts.length;
    this.follow();
  }
}
