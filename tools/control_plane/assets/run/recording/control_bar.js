// The control bar below the picture.
import { byId, element, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { clock } from "../../words.js";
import { RATES } from "./keys.js";

const texted = texts.recording;

export class ControlBar {
  /** @param {import("./player.js").Player} player @param {Record<string, () => void>} commands */
  constructor(player, commands) {
    this.player = player;
    const buttons = { play: "play", previous: "previousStep", next: "nextStep", frame: "nextFrame", "frame-before": "previousFrame" };
    for (const [id, command] of Object.entries({ ...buttons, loop: "loop", full: "fullScreen", "keys-show": "help" })) {
      byId(id).addEventListener("click", () => commands[command]());
    }
    const speed = byId("speed");
    speed.replaceChildren(...RATES.map((rate) => element("option", { value: String(rate), selected: rate === 1 }, `${rate}×`)));
    speed.addEventListener("change", () => player.setRate(Number(speed.value)));
    document.addEventListener("fullscreenchange", () => this.update());
  }

  update() {
    const { player } = this;
    const play = byId("play");
    play.dataset.state = player.playing ? "playing" : "paused";
    play.setAttribute("aria-label", player.playing ? texted.pause : texted.play);
    byId("speed").value = String(player.video.playbackRate);
    byId("loop").setAttribute("aria-pressed", String(player.loop !== null));
    byId("full").setAttribute("aria-label", document.fullscreenElement ? texted.leaveFullScreen : texted.fullScreen);
  }

  /** @param {number} time @param {string} words about the step that is shown */
  show(time, words) {
    const { player } = this;
    setText(byId("clock"), `${clock(time, true)} / ${clock(player.total, true)}`);
    setText(byId("now"), words);
    byId("now").title = words;
  }
}
