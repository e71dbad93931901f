// The recording of a run: the video with its control bar and time line, the list of steps, and what
// stands in their place while there is nothing to play. All of them show one moment: that of the
// frame on the screen.
import { address } from "../../api.js";
import { byId, element } from "../../dom.js";
import { pause } from "../../pause.js";
import { watchShot } from "../../shots.js";
import { texts } from "../../texts.js";
import { isAtWork, spanWords, stepTitle } from "../../words.js";
import { showWords } from "../facts.js";
import { ControlBar } from "./control_bar.js";
import { nextRate } from "./keys.js";
import { Overlay } from "./overlay.js";
import { Player } from "./player.js";
import { keyList, listenToKeys } from "./shortcuts.js";
import { StepList } from "./step_list.js";
import { toolsOf } from "./step_rows.js";
import { nextFailure, sentencesOf, shownSteps, stepAt } from "./steps.js";
import { Timeline } from "./timeline.js";

/** @typedef {import("./steps.js").ShownStep} ShownStep */
/** @typedef {import("./time_scale.js").Span} Span */

// A step may be over before anybody has seen it.
const SHORTEST_CLIP_SECONDS = 2;
// A seek may land a little before the frame that was asked for.
const SEEK_ERROR = 0.02;

/** @param {any[]} recordings */
function partsOf(recordings) {
  return recordings.map((recording) => ({
    url: address(recording.url),
    seconds: recording.video_s,
    chapters: address(recording.chapters_url),
  }));
}

/** Why there is nothing to play, if that needs saying. @param {any} chat */
function whyNoVideo(chat) {
  const { notRecorded, queued, recordedLater } = texts.recording;
  if (isAtWork(chat)) {
    return chat.mode === "computer_use" ? (chat.state === "queued" ? queued : recordedLater) : "";
  }
  return chat.recording_warning || (chat.mode === "computer_use" ? notRecorded : "");
}

export class Recording {
  /**
   * @param {string} id of the chat, as it is in an address
   * @param {(step: any) => void} opened called with a step that a person chose, in the list or on the time line
   */
  constructor(id, opened) {
    this.id = id;
    this.opened = opened;
    /** @type {any} */
    this.run = null;
    /** @type {ShownStep[]} */
    this.steps = [];
    /** @type {ShownStep[]} with a time in the video, by it */
    this.timed = [];
    /** @type {Map<string, string>} */
    this.sentences = new Map();
    /** @type {ShownStep | null} */
    this.pinned = null;
    /** @type {ShownStep | null} */
    this.current = null;
    this.previewed = null;
    const commands = this.commands();
    this.player = new Player(byId("video"), { shown: (time) => this.shown(time), changed: () => this.bar?.update() });
    this.bar = new ControlBar(this.player, commands);
    this.overlay = new Overlay(byId("video"));
    this.list = new StepList((step) => this.choose(step));
    this.timeline = new Timeline({
      seek: (time) => this.seek(time),
      chosen: (step) => this.choose(step),
      selected: (span) => this.selected(span),
    });
    listenToKeys(commands);
    this.listen();
  }

  listen() {
    const { player } = this;
    byId("video").addEventListener("click", () => player.toggle());
    byId("rings").addEventListener("change", () => {
      this.overlay.on = byId("rings").checked;
      player.show();
    });
    for (const id of ["steps-text", "steps-tool", "steps-failed"]) {
      byId(id).addEventListener("input", () => this.refilter());
    }
    byId("steps-text").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") {
        byId("steps-text").value = "";
        byId("steps-text").blur();
        this.refilter();
      }
    });
    byId("span-clear").addEventListener("click", () => this.timeline.select(null));
    const open = () => {
      byId("screen").style.setProperty("--ratio", `${byId("video").videoWidth} / ${byId("video").videoHeight}`);
      this.openAddress(location.hash ? location.hash.slice(1) : location.search);
    };
    byId("video").addEventListener("loadedmetadata", open, { once: true });
  }

  /** @return {Record<string, () => void>} by the names of the table of keys */
  commands() {
    const help = keyList();
    const player = () => this.player;
    return {
      play: () => player().toggle(),
      previousStep: () => this.beside(-1),
      nextStep: () => this.beside(1),
      back: () => this.seek(player().time - 1),
      forward: () => this.seek(player().time + 1),
      previousFrame: () => this.frame(-1),
      nextFrame: () => this.frame(1),
      slower: () => player().setRate(nextRate(player().video.playbackRate, -1)),
      faster: () => player().setRate(nextRate(player().video.playbackRate, 1)),
      nextFailure: () => {
        const found = nextFailure(this.timed, player().time);
        if (found) {
          this.choose(found);
        }
      },
      spanBegin: () => this.selectFrom(player().time, this.timeline.span?.to ?? player().total),
      spanEnd: () => this.selectFrom(this.timeline.span?.from ?? 0, player().time),
      loop: () => this.loop(player().loop === null),
      zoomIn: () => this.timeline.zoomBy(0.5),
      zoomOut: () => this.timeline.zoomBy(2),
      zoomAll: () => {
        this.timeline.zoom(this.timeline.scale.at(0, player().total));
        this.timeline.select(null);
      },
      filter: () => byId("steps-text").focus(),
      overlays: () => byId("rings").click(),
      fullScreen: () => this.fullScreen(),
      live: () => takeControl(),
      help,
    };
  }

  /** The moment that the page shows: {time, step} of the run video. */
  moment() {
    const { player } = this;
    return player.total ? { time: player.time, step: this.current } : { time: 0, step: null };
  }

  /** @param {any} run as the API describes it */
  async show(run) {
    this.run = run;
    this.showVideo(run);
    await pause();
    await this.showSteps();
  }

  /** Groups the steps by the sentences of the agent. @param {any[]} messages of the chat */
  async showMessages(messages) {
    const known = this.sentences.size;
    this.sentences = sentencesOf(messages);
    if (this.run && this.sentences.size !== known) {
      await this.showSteps();
    }
  }

  async showSteps() {
    const { chat, video } = this.run;
    const { player } = this;
    this.steps = shownSteps(chat.steps, video?.sessions || [], this.sentences, stepTitle);
    this.timed = this.steps.filter((step) => step.video_start !== null).sort((a, b) => (a.video_start ?? 0) - (b.video_start ?? 0));
    const same = this.timed.find((step) => step.id === this.pinned?.id);
    this.pinned = same ?? null;
    await pause();
    const { videoWidth, videoHeight } = player.video;
    const startedAt = chat.started_at ?? chat.created_at;
    this.list.show(this.steps, { total: player.total, fine: player.fine, startedAt, screen: [videoWidth, videoHeight] });
    await pause();
    this.showTools();
    if (player.total) {
      await this.timeline.load(player.total, this.timed, video?.time_map || []);
      player.show();
    }
  }

  showTools() {
    const select = byId("steps-tool");
    const wanted = select.value;
    const tools = toolsOf(this.steps).map(([name, count]) => element("option", { value: name }, `${name} (${count})`));
    select.replaceChildren(element("option", { value: "" }, texts.recording.everyTool), ...tools);
    select.value = tools.some((option) => option.value === wanted) ? wanted : "";
  }

  /** @param {any} run */
  showVideo({ chat, recordings, video }) {
    byId("player").hidden = recordings.length === 0;
    // A screenshot of another chat's desktop would start its display.
    const seen = chat.mode === "computer_use" && isAtWork(chat) && Boolean(chat.desktop_id);
    this.showPreview(chat, recordings.length === 0 && seen);
    const why = recordings.length === 0 && byId("preview").hidden ? whyNoVideo(chat) : "";
    showWords("no-video", "no-video", why);
    if (recordings.length === 0) {
      return;
    }
    if (chat.thumbnail_file_id && !byId("video").poster) {
      byId("video").poster = address(`api/v0/files/${chat.thumbnail_file_id}`);
    }
    this.player.load(partsOf(recordings));
    const strip = video?.filmstrip;
    this.timeline.filmstrip.show(strip ? { ...strip, url: address(strip.url) } : null);
    const save = byId("download");
    save.href = `${address(recordings[0].url)}?download=true`;
    save.download = recordings[0].name;
    save.hidden = false;
  }

  /** @param {any} chat @param {boolean} wanted */
  showPreview(chat, wanted) {
    const preview = byId("preview");
    preview.hidden = !wanted;
    if (wanted && this.previewed !== chat.desktop_id) {
      this.previewed = chat.desktop_id;
      preview.href = address(`desktops/${encodeURIComponent(chat.desktop_id)}`);
      watchShot(preview, preview.querySelector("img"), chat.desktop_id);
    }
  }

  /** Called for each frame. @param {number} time */
  shown(time) {
    const { player } = this;
    if (!player.total) {
      return;
    }
    const step = this.stepAt(time);
    const number = this.place(step) + 1;
    this.bar?.show(time, step ? texts.recording.place(number, this.timed.length, step.label) : "");
    this.overlay?.show(step, time);
    this.timeline?.show(time, step, player.playing);
    if (step !== this.current) {
      this.current = step;
      this.list.highlight(step);
      this.offerClip(step);
    }
  }

  /** The step that the frame shows. @param {number} time */
  stepAt(time) {
    const { pinned, player } = this;
    // A chosen step stays the current one, even if the next begins in the same frame.
    if (pinned && !player.playing && Math.abs(time - (pinned.video_start ?? 0)) < SEEK_ERROR) {
      return pinned;
    }
    return stepAt(this.timed, time + (player.playing ? 0.001 : SEEK_ERROR));
  }

  /** @param {number} time */
  seek(time) {
    this.pinned = null;
    this.player.seek(time);
  }

  /** @param {1 | -1} direction */
  frame(direction) {
    this.pinned = null;
    this.player.frame(direction);
  }

  /** @param {ShownStep} step */
  choose(step) {
    if (step.tool !== "human") {
      this.opened(step);
    }
    this.open(step);
  }

  /** @param {ShownStep} step */
  open(step) {
    if (step.video_start !== null && this.player.total) {
      // A row of the list may be older than the steps that were read last.
      this.pinned = this.timed[this.place(step)] ?? step;
      this.timeline.zoom(this.timeline.scale.showing(step.video_start));
      this.player.seek(step.video_start);
      history.replaceState(null, "", `#step=${encodeURIComponent(step.id)}`);
    }
  }

  /** Opens the moment that an address names: by a step, whose time may not be rounded, or by itself. @param {string} query */
  openAddress(query) {
    const wanted = new URLSearchParams(query);
    const step = this.timed.find((each) => each.id === wanted.get("step"));
    if (step) {
      this.pinned = step;
      this.player.seek(step.video_start ?? 0);
    } else if (Number(wanted.get("t")) > 0) {
      this.seek(Number(wanted.get("t")));
    }
  }

  /** The place of a step in the video, -1 without one. The steps may have been read again since.  @param {ShownStep | null} step */
  place(step) {
    return this.timed.findIndex((each) => each.id === step?.id);
  }

  /** @param {number} offset */
  beside(offset) {
    const at = this.place(this.current);
    const wanted = this.timed[Math.max(0, Math.min(this.timed.length - 1, at + offset))];
    if (wanted) {
      this.choose(wanted);
    }
  }

  /** @param {number} from @param {number} to */
  selectFrom(from, to) {
    if (to > from) {
      this.timeline.select({ from, to });
    }
  }

  /** @param {Span | null} span */
  selected(span) {
    const clear = byId("span-clear");
    clear.hidden = span === null;
    if (span) {
      clear.replaceChildren(spanWords(span.from, span.to), element("span", { "aria-hidden": "true" }, " ✕"));
    }
    this.refilter();
    if (this.player.loop) {
      this.loop(span !== null);
    }
  }

  /** @param {boolean} wanted */
  loop(wanted) {
    const { player } = this;
    const index = this.place(this.current);
    const step = { from: this.current?.video_start ?? 0, to: this.timed[index + 1]?.video_start ?? player.total };
    player.loop = wanted ? (this.timeline.span ?? step) : null;
    this.bar?.update();
  }

  refilter() {
    const [text, tool, failed] = [byId("steps-text").value, byId("steps-tool").value, byId("steps-failed").checked];
    this.list.refilter({ text, tool, failed, span: this.timeline.span });
  }

  fullScreen() {
    if (document.fullscreenElement) {
      document.exitFullscreen();
    } else {
      // All of the run, so that the picture, its overlays and the list are there.
      document.querySelector("main")?.requestFullscreen();
    }
  }

  /** Offers the current step, until the next one begins, as a video of its own. @param {ShownStep | null} step */
  offerClip(step) {
    const { player } = this;
    const clip = byId("clip");
    clip.hidden = step === null;
    if (step?.video_start !== null && step?.video_start !== undefined) {
      const { video_start: begin } = step;
      const from = Math.max(0, Math.min(begin, player.total - SHORTEST_CLIP_SECONDS));
      const following = this.timed.find((each) => (each.video_start ?? 0) > begin);
      const until = Math.max(following?.video_start ?? player.total, from + SHORTEST_CLIP_SECONDS);
      clip.href = address(`api/v0/recordings/${this.id}/clip?from=${from.toFixed(3)}&to=${until.toFixed(3)}&download=true`);
    }
  }
}

/** Takes control in the live view of this page; without one it opens the page of the desktop. */
function takeControl() {
  const take = /** @type {HTMLButtonElement | null} */ (document.querySelector("#live-screen .viewer-take"));
  if (take && !take.hidden && !byId("live-screen").hidden) {
    take.click();
  } else if (!byId("live").hidden) {
    byId("live").click();
  }
}
