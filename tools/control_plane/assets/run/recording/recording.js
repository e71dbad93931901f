// @ts-nocheck
// The recording of a run: the player with its controls, the list of steps, and what stands in their
// place while there is nothing to play.
import { address } from "../../api.js";
import { byId } from "../../dom.js";
import { watchShot } from "../../shots.js";
import { isAtWork, stepTitle } from "../../words.js";
import { showWords } from "../facts.js";
import { Player } from "./player.js";
import { StepList } from "./step_list.js";
import { stillsOf } from "./stills.js";

// A step may be over before anybody has seen it.
const SHORTEST_CLIP_SECONDS = 2;

function partsOf(recordings) {
  return recordings.map((recording) => ({
    url: address(recording.url),
    seconds: recording.video_s,
    chapters: address(recording.chapters_url),
  }));
}

/** Why there is nothing to play, if that needs saying. */
function whyNoVideo(chat) {
  if (isAtWork(chat)) {
    const later = chat.state === "queued" ? "Its desktop is on the way." : "The recording comes when the agent has finished.";
    return chat.mode === "computer_use" ? later : "";
  }
  const ended = chat.mode === "computer_use" ? "There is no recording of this run." : "";
  return chat.recording_warning || ended;
}

export class Recording {
  /**
   * @param id of the chat, as it is in an address
   * @param chosen called with a step that a person chose, in the list or on the time line
   */
  constructor(id, chosen) {
    this.id = id;
    this.chosen = chosen;
    this.steps = [];
    this.previewed = null;
    const moved = (step) => {
      this.list.highlight(step);
      this.offerClip(step);
    };
    this.player = new Player(
      { video: byId("video"), strip: byId("strip"), played: byId("played"), now: byId("now"), ring: byId("ring"), pressed: byId("pressed") },
      { chosen: (step) => this.choose(step), moved },
    );
    this.list = new StepList(byId("steps"), this.player, (step) => this.choose(step));
    this.listen();
  }

  listen() {
    const { player } = this;
    byId("previous").addEventListener("click", () => this.beside(-1));
    byId("next").addEventListener("click", () => this.beside(1));
    byId("frame").addEventListener("click", () => player.onePicture());
    byId("speed").addEventListener("change", (event) => {
      byId("video").playbackRate = Number(event.currentTarget.value);
    });
    byId("rings").addEventListener("change", (event) => {
      player.rings = event.currentTarget.checked;
      player.tick();
    });
    const open = () => {
      const at = this.secondOf(location.hash ? location.hash.slice(1) : location.search);
      if (at > 0) {
        player.seek(at);
      }
    };
    byId("video").addEventListener("loadedmetadata", open, { once: true });
  }

  /** The moment that the page shows: {time, step} of the run video. */
  moment() {
    const { player } = this;
    return player.total ? { time: player.time, step: player.current() } : { time: 0, step: null };
  }

  show({ chat, recordings }) {
    this.showVideo(chat, recordings);
    this.steps = chat.steps;
    this.list.show(chat.steps, chat.started_at ?? chat.created_at);
    this.player.mark(chat.steps.map((step) => ({ ...step, label: stepTitle(step) })));
  }

  showVideo(chat, recordings) {
    byId("player").hidden = recordings.length === 0;
    // A screenshot of another chat's desktop would start its display.
    const seen = chat.mode === "computer_use" && isAtWork(chat) && Boolean(chat.desktop_id);
    this.showPreview(chat, recordings.length === 0 && seen);
    const why = recordings.length === 0 && byId("preview").hidden ? whyNoVideo(chat) : "";
    showWords("no-video", "no-video", why);
    if (recordings.length === 0) {
      return;
    }
    if (chat.thumbnail_file_id) {
      byId("video").poster = address(`api/v0/files/${chat.thumbnail_file_id}`);
    }
    this.player.load(partsOf(recordings), stillsOf(recordings));
    const save = byId("download");
    save.href = `${address(recordings[0].url)}?download=true`;
    save.download = recordings[0].name;
    save.hidden = false;
  }

  showPreview(chat, wanted) {
    const preview = byId("preview");
    preview.hidden = !wanted;
    if (wanted && this.previewed !== chat.desktop_id) {
      this.previewed = chat.desktop_id;
      preview.href = address(`desktops/${encodeURIComponent(chat.desktop_id)}`);
      watchShot(preview, preview.querySelector("img"), chat.desktop_id);
    }
  }

  choose(step) {
    const { player } = this;
    this.chosen(step);
    if (typeof step.video_start === "number" && player.total) {
      player.seek(step.video_start);
      history.replaceState(null, "", `#step=${encodeURIComponent(step.id)}`);
    }
  }

  beside(offset) {
    const known = this.steps.filter((step) => typeof step.video_start === "number");
    const current = known.findIndex((step) => step.id === this.player.current()?.id);
    const wanted = known[Math.max(0, Math.min(known.length - 1, current + offset))];
    if (wanted) {
      this.choose(wanted);
    }
  }

  /** The second of the video that an address names: by a step, whose time may not be rounded, or by itself. */
  secondOf(query) {
    const wanted = new URLSearchParams(query);
    const step = this.steps.find((each) => each.id === wanted.get("step"));
    return step?.video_start ?? Number(wanted.get("t"));
  }

  /** Offers the current step, until the next one begins, as a video of its own. */
  offerClip(step) {
    const { player } = this;
    const clip = byId("clip");
    clip.hidden = step === null;
    if (step !== null) {
      const from = Math.max(0, Math.min(step.video_start, player.total - SHORTEST_CLIP_SECONDS));
      const following = this.steps.find((each) => each.video_start > step.video_start);
      const until = Math.max(following?.video_start ?? player.total, from + SHORTEST_CLIP_SECONDS);
      clip.href = address(`api/v0/recordings/${this.id}/clip?from=${from.toFixed(3)}&to=${until.toFixed(3)}&download=true`);
    }
  }
}
