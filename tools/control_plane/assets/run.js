// One run: its recording, its steps and its report.
import { address, get, idFromPath, post } from "./api.js";
import { watchBell } from "./bell.js";
import { runCard, updateRunCard } from "./cards.js";
import { byId, element, keyed, setText, troubled } from "./dom.js";
import { follow } from "./events.js";
import { keeping } from "./keeping.js";
import { messageBox } from "./message.js";
import { Player } from "./player.js";
import { problemOf } from "./problem.js";
import { watchShot } from "./shots.js";
import { StepDetails } from "./step.js";
import {
  ago,
  clock,
  detailsOf,
  dollars,
  duration,
  isAtWork,
  isBusy,
  size,
  stateOf,
  stepTitle,
  timesOf,
  tokensOf,
  took,
} from "./words.js";

const id = encodeURIComponent(idFromPath());
const list = byId("steps");
let steps = [];
let startedAt = 0;
// A step may be over before anybody has seen it.
const SHORTEST_CLIP_SECONDS = 2;

const player = new Player(
  { video: byId("video"), strip: byId("strip"), played: byId("played"), now: byId("now"), ring: byId("ring"), pressed: byId("pressed") },
  {
    chosen: (step) => choose(step),
    moved: (step) => {
      highlight(step);
      offerClip(step);
    },
  },
);

const details = new StepDetails(id);
const showMessageBox = messageBox(id);
const showKept = keeping(id, () => (player.total ? { time: player.time, step: player.current() } : { time: 0, step: null }));

function highlight(step) {
  for (const row of list.children) {
    const current = step !== null && row.dataset.key === step.id;
    const button = row.querySelector("button");
    if (current && button.getAttribute("aria-current") !== "step") {
      button.setAttribute("aria-current", "step");
      keepInView(row);
    } else if (!current) {
      button.removeAttribute("aria-current");
    }
  }
}

/** Offers the current step, until the next one begins, as a video of its own. */
function offerClip(step) {
  const clip = byId("clip");
  clip.hidden = step === null;
  if (step !== null) {
    const from = Math.max(0, Math.min(step.video_start, player.total - SHORTEST_CLIP_SECONDS));
    const following = steps.find((each) => each.video_start > step.video_start);
    const until = Math.max(following?.video_start ?? player.total, from + SHORTEST_CLIP_SECONDS);
    clip.href = address(`api/v0/recordings/${id}/clip?from=${from.toFixed(3)}&to=${until.toFixed(3)}&download=true`);
  }
}

// Scrolls the list alone: the page itself stays where the person left it.
function keepInView(row) {
  const over = list.scrollHeight > list.clientHeight;
  if (over) {
    const middle = row.offsetTop - list.offsetTop - list.clientHeight / 2 + row.offsetHeight / 2;
    list.scrollTo({ top: middle, behavior: "smooth" });
  }
}

function choose(step) {
  details.show(step);
  if (typeof step.video_start === "number" && player.total) {
    player.seek(step.video_start);
    history.replaceState(null, "", `#step=${encodeURIComponent(step.id)}`);
  }
}

function stepRow(step) {
  const row = element(
    "li",
    {},
    element(
      "button",
      { type: "button" },
      element("span", { className: "step-time" }),
      element(
        "span",
        { className: "step-words" },
        element("span", { className: "step-title" }),
        element("span", { className: "step-more" }),
      ),
      element("img", { alt: "", loading: "lazy", decoding: "async", hidden: true }),
    ),
  );
  row.querySelector("button").addEventListener("click", () => {
    const found = steps.find((each) => each.id === row.dataset.key);
    if (found) {
      choose(found);
    }
  });
  return row;
}

function updateStepRow(row, step) {
  const inVideo = typeof step.video_start === "number";
  // Two clocks in one column would mislead: with a video, a step outside of it has no time.
  const outside = player.total ? "–" : clock(step.started_at - startedAt);
  setText(row.querySelector(".step-time"), inVideo ? clock(step.video_start, player.fine) : outside);
  setText(row.querySelector(".step-title"), stepTitle(step));
  const taken = step.ended_at ? duration(step.ended_at - step.started_at) : "running";
  const kind = step.action ? "" : step.tool;
  const cost = step.usage?.cost_usd ? dollars(step.usage.cost_usd) : "";
  const times = step.ended_at ? timesOf(step.timings) : [];
  const more = row.querySelector(".step-more");
  setText(more, [kind, taken, step.error, cost, ...times].filter(Boolean).join(" · "));
  more.title = detailsOf(step);
  row.dataset.tone = step.error || step.status === "failed" ? "bad" : step.status === "running" ? "busy" : "";
  row.querySelector("button").title = inVideo ? "Show it in the video" : "";
  const image = row.querySelector("img");
  if (step.screenshot_file_id && !image.getAttribute("src")) {
    image.src = address(`api/v0/files/${step.screenshot_file_id}`);
    image.hidden = false;
  }
}

/** Stretches of a recording's video in which real time runs at least four times as fast. */
function stillOf(timeMap, begins) {
  const found = [];
  for (let i = 1; i < (timeMap || []).length; i += 1) {
    const [real0, video0] = timeMap[i - 1];
    const [real1, video1] = timeMap[i];
    if (video1 > video0 && (real1 - real0) / (video1 - video0) > 4) {
      found.push([begins + video0, begins + video1]);
    }
  }
  return found;
}

/** The same of all: a work that was taken up again has two recordings, one behind the other. */
function stillsOf(recordings) {
  let begins = 0;
  return recordings.flatMap((recording) => {
    const from = begins;
    begins += recording.video_s || 0;
    // Each part's metadata describe its whole recording.
    return recording.part === 0 ? stillOf(recording.metadata.time_map, from) : [];
  });
}

function partsOf(recordings) {
  return recordings.map((recording) => ({
    url: address(recording.url),
    seconds: recording.video_s,
    chapters: address(recording.chapters_url),
  }));
}

let previewed = null;

function showPreview(chat, wanted) {
  const preview = byId("preview");
  preview.hidden = !wanted;
  if (wanted && previewed !== chat.desktop_id) {
    previewed = chat.desktop_id;
    preview.href = address(`desktops/${encodeURIComponent(chat.desktop_id)}`);
    watchShot(preview, preview.querySelector("img"), chat.desktop_id);
  }
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

function showRecording(chat, recordings) {
  showKept(recordings);
  byId("player").hidden = recordings.length === 0;
  // A screenshot of another chat's desktop would start its display.
  const seen = chat.mode === "computer_use" && isAtWork(chat) && Boolean(chat.desktop_id);
  showPreview(chat, recordings.length === 0 && seen);
  const why = recordings.length === 0 && byId("preview").hidden ? whyNoVideo(chat) : "";
  showWords("no-video", "no-video", why);
  if (recordings.length === 0) {
    return;
  }
  if (chat.thumbnail_file_id) {
    byId("video").poster = address(`api/v0/files/${chat.thumbnail_file_id}`);
  }
  player.load(partsOf(recordings), stillsOf(recordings));
  const save = byId("download");
  save.href = `${address(recordings[0].url)}?download=true`;
  save.download = recordings[0].name;
  save.hidden = false;
}

function howLong(chat) {
  if (!isBusy(chat)) {
    return "took";
  }
  return chat.state === "queued" ? "waiting for" : "working for";
}

function showFacts(chat, recordings) {
  const [word, tone] = stateOf(chat);
  const badge = element("span", { className: "badge" }, word);
  badge.dataset.tone = tone;
  const bytes = recordings.reduce((sum, each) => sum + each.bytes, 0);
  const video = recordings.reduce((sum, each) => sum + (each.video_s || 0), 0);
  const facts = [
    `${chat.steps.length} ${chat.steps.length === 1 ? "step" : "steps"}`,
    took(chat) && `${howLong(chat)} ${took(chat)}`,
    video ? `video ${duration(video)}${bytes ? `, ${size(bytes)}` : ""}` : null,
    chat.model,
    chat.usage ? tokensOf(chat.usage) : null,
    chat.usage?.cost_usd ? dollars(chat.usage.cost_usd) : null,
    ...(chat.times ? timesOf(chat.times) : []),
    chat.waiting_for?.text,
    chat.status_message && `“${chat.status_message.text}”`,
    ago(chat.created_at),
  ];
  byId("facts").replaceChildren(badge, ` ${facts.filter(Boolean).join(" · ")}`);
}

function showWords(box, place, text) {
  byId(box).hidden = !text;
  setText(byId(place), text || "");
}

let asked = null;

/** The open question: words for a person, buttons for an approval. */
function showQuestion(question) {
  showWords("question-box", "question", question?.question);
  const approval = question?.kind === "approval";
  byId("answer-form").hidden = approval;
  byId("decision").hidden = !approval;
  const call = question?.call;
  byId("question-call").hidden = !call;
  setText(byId("question-call"), call ? `${call.action || call.tool} ${JSON.stringify(call.arguments, null, 2)}` : "");
  const picture = byId("question-picture");
  picture.hidden = !question?.picture;
  if (question?.picture && asked?.picture !== question.picture) {
    picture.href = address(`api/v0/files/${question.picture}`);
    picture.querySelector("img").src = picture.href;
  }
  asked = question || null;
  showLeft();
}

function showLeft() {
  const left = asked?.deadline ? Math.max(0, asked.deadline - Date.now() / 1000) : null;
  setText(byId("question-left"), left === null ? "" : `Refused in ${duration(Math.ceil(left))} without an answer.`);
}

async function answer(text) {
  await troubled(() => post(`api/v0/chats/${id}/answer`, { answer: text, ...(asked && { question: asked.id }) }));
}

function showFiles(files) {
  const shown = files.filter((file) => file.kind === "attachment" || file.kind === "recording");
  byId("files-box").hidden = shown.length === 0;
  keyed(
    byId("files"),
    shown,
    (file) => file.id,
    (file) =>
      element(
        "li",
        {},
        element("a", { href: address(`api/v0/files/${file.id}`) }, file.name),
        element("span", {}, ` ${size(file.size)}`),
      ),
    () => {},
  );
}

/** The control plane keeps a hash of the last step of each turn. */
function showChanged(turns) {
  const words = byId("changed");
  words.hidden = turns.length === 0;
  setText(words, `The steps were changed after the end of turn ${turns.join(", ")}.`);
}

function show({ chat, recordings, children, changed_turns: changed }) {
  showChanged(changed);
  startedAt = chat.started_at ?? chat.created_at;
  document.title = `${chat.title || "Run"} · Deskhand`;
  setText(byId("title"), chat.title || "Run");
  showFacts(chat, recordings);
  showRecording(chat, recordings);
  showWords("report-box", "report", chat.report || chat.last_error);

  const busy = isAtWork(chat);
  showQuestion(chat.requires_action);
  showMessageBox(chat);
  byId("stop").hidden = !busy;
  const live = byId("live");
  live.hidden = !(busy && chat.desktop_id);
  live.href = address(`desktops/${encodeURIComponent(chat.desktop_id)}`);
  byId("parent").hidden = !chat.parent_id;
  if (chat.parent_id) {
    byId("parent").replaceChildren(
      element("a", { href: address(`runs/${encodeURIComponent(chat.parent_id)}`) }, "‹ The chat that started it"),
    );
  }

  steps = chat.steps;
  keyed(list, steps, (step) => step.id, stepRow, updateStepRow);
  byId("steps-none").hidden = steps.length > 0;
  player.mark(steps.map((step) => ({ ...step, label: stepTitle(step) })));

  byId("children-box").hidden = children.length === 0;
  keyed(byId("children"), children, (child) => child.id, runCard, (card, child) => updateRunCard(card, child));
  showFiles(chat.files);
}

async function readPrompt() {
  await troubled(async () => {
    const { messages } = await get(`api/v0/chats/${id}/messages`).catch((error) => {
      // A share link covers the conversation only if that was chosen when it was made.
      if (error.status === 403) {
        return { messages: [] };
      }
      throw error;
    });
    const first = messages.find((message) => message.role === "user");
    const texts = (first?.content || []).filter((block) => block.type === "text");
    showWords("prompt-box", "prompt", texts.map((block) => block.text).join("\n\n"));
  });
}

async function read() {
  await troubled(async () => {
    try {
      show(await get(`api/v0/runs/${id}`));
    } catch (error) {
      // A run that is deleted while its page is open ends there too.
      if (!problemOf(error, "run")) {
        throw error;
      }
    }
  });
}

/** The second of the video that an address names: by a step, whose time may not be rounded, or by itself. */
function momentOf(query) {
  const wanted = new URLSearchParams(query);
  const step = steps.find((each) => each.id === wanted.get("step"));
  return step?.video_start ?? Number(wanted.get("t"));
}

function beside(offset) {
  const known = steps.filter((step) => typeof step.video_start === "number");
  const current = known.findIndex((step) => step.id === player.current()?.id);
  const wanted = known[Math.max(0, Math.min(known.length - 1, current + offset))];
  if (wanted) {
    choose(wanted);
  }
}

byId("previous").addEventListener("click", () => beside(-1));
byId("next").addEventListener("click", () => beside(1));
byId("frame").addEventListener("click", () => player.onePicture());
byId("speed").addEventListener("change", (event) => {
  byId("video").playbackRate = Number(event.currentTarget.value);
});
byId("rings").addEventListener("change", (event) => {
  player.rings = event.currentTarget.checked;
  player.tick();
});
byId("answer-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  await answer(form.answer.value);
  form.reset();
});
for (const button of byId("decision").querySelectorAll("button")) {
  button.addEventListener("click", () => answer(button.dataset.answer));
}
setInterval(showLeft, 1000);
byId("stop").addEventListener("click", () => troubled(() => post(`api/v0/chats/${id}/interrupt`)));
byId("video").addEventListener(
  "loadedmetadata",
  () => {
    const at = momentOf(location.hash ? location.hash.slice(1) : location.search);
    if (at > 0) {
      player.seek(at);
    }
  },
  { once: true },
);

readPrompt();
follow(`api/v0/chats/${id}/events`, read);
watchBell();
