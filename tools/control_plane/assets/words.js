// Numbers and states in words.
import { serverNow } from "./server_clock.js";
import { texts } from "./texts.js";

const amounts = texts.amounts;

/** @type {Record<string, [string, Tone]>} */
const STATES = {
  queued: [texts.chat.states.queued, "quiet"],
  waiting: [texts.chat.states.waiting, "quiet"],
  running: [texts.chat.states.running, "busy"],
  interrupting: [texts.chat.states.interrupting, "busy"],
  requires_action: [texts.chat.states.requires_action, "warn"],
  error: [texts.chat.states.error, "bad"],
};
/** @type {Record<string, [string, Tone]>} */
const OUTCOMES = {
  done: [texts.chat.outcomes.done, "good"],
  partly: [texts.chat.outcomes.partly, "warn"],
  blocked: [texts.chat.outcomes.blocked, "warn"],
  failed: [texts.chat.outcomes.failed, "bad"],
};

/**
 * [word, tone] of a chat: what it does, or what came of it.
 *
 * @param {Pick<Chat, "state" | "outcome">} chat
 * @returns {[string, Tone]}
 */
export function stateOf(chat) {
  if (chat.state === "waiting" && chat.outcome) {
    return OUTCOMES[chat.outcome] || [chat.outcome, "quiet"];
  }
  return STATES[chat.state] || [chat.state, "quiet"];
}

/** @param {Pick<Chat, "state">} chat */
export function isBusy(chat) {
  return ["queued", "running", "interrupting"].includes(chat.state);
}

/**
 * Whether there is a turn to stop: one that waits for a person, too.
 *
 * @param {Pick<Chat, "state">} chat
 */
export function isAtWork(chat) {
  return isBusy(chat) || chat.state === "requires_action";
}

const line = (/** @type {unknown} */ text) => String(text).replace(/\s+/g, " ").trim();
const at = (/** @type {Arguments} */ { coordinate }) => (Array.isArray(coordinate) ? amounts.at(coordinate.join(", ")) : undefined);
const named = (/** @type {string} */ name) => (/** @type {Arguments} */ args) => (args[name] ? line(args[name]) : undefined);
const task = (/** @type {Arguments} */ args) => line(args.title || args.prompt || "");

// What the title of a step is about; undefined if its arguments do not fit.
/** @type {Record<string, (args: Arguments) => string | undefined>} */
const OBJECTS = {
  left_click: at,
  right_click: at,
  middle_click: at,
  double_click: at,
  triple_click: at,
  mouse_move: at,
  left_click_drag: at,
  scroll: (args) => at(args) && [args.scroll_direction, at(args)].filter(Boolean).join(" "),
  key: named("text"),
  type: named("text"),
  execute: named("command"),
  read_file: named("path"),
  write_file: named("path"),
  type_secret: named("name"),
  attach_file: named("path"),
  call_mcp_tool: named("tool_name"),
  approve_mcp_server: named("server"),
  request_human: named("reason"),
  spawn_computer_use_agent: task,
  spawn_agent: task,
  message_agent: named("message"),
  navigate: named("url"),
  find: named("query"),
  search_files: named("pattern"),
};

/**
 * A step in words: 'Click at 3, 4'. A step whose arguments do not fit keeps its title.
 *
 * @param {Pick<Step, "tool" | "action" | "title" | "arguments">} step
 * @returns {string}
 */
export function stepTitle(step) {
  const kind = step.action || step.tool;
  const words = texts.steps[kind];
  const title = typeof words === "function" ? withObject(words, OBJECTS[kind](step.arguments || {})) : words;
  return title || inWords(step.title || kind);
}

/** @param {(object: string) => string} words @param {string | undefined} object */
function withObject(words, object) {
  return object === undefined ? "" : words(object);
}

/**
 * A title that begins with the name of a tool: "search_files: a.txt" -> "Search files: a.txt"
 *
 * @param {string} title
 */
function inWords(title) {
  return title.replace(/^[a-z][a-z0-9_]*(?=:|$)/, (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " "));
}

/**
 * 75.2 -> "1 min 15 s"
 *
 * @param {number | null | undefined} seconds
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) {
    return "";
  }
  if (seconds < 10) {
    return amounts.seconds(Math.max(0, seconds).toFixed(1));
  }
  const whole = Math.round(seconds);
  if (whole < 60) {
    return amounts.seconds(whole);
  }
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours ? amounts.hoursAndMinutes(hours, minutes) : amounts.minutesAndSeconds(minutes, whole % 60);
}

/**
 * 75.2 -> "1:15", or "1:15.2" if tenths are wanted
 *
 * @param {number} seconds
 * @returns {string}
 */
export function clock(seconds, tenths = false) {
  if (tenths) {
    const count = Math.round(Math.max(0, seconds) * 10);
    return `${clock(Math.floor(count / 10))}.${count % 10}`;
  }
  const whole = Math.max(0, Math.floor(seconds));
  const rest = String(whole % 60).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

/** A stretch of a video, in tenths. @param {number} from @param {number} to  both in seconds */
export const spanWords = (from, to) => texts.recording.span(clock(from, true), clock(to, true));

/** @type {Intl.RelativeTimeFormat | null} made when it is needed first, as that takes long */
let relativeFormat = null;
const relative = () => (relativeFormat ??= new Intl.RelativeTimeFormat(texts.language, { numeric: "auto" }));

/**
 * A unix time as "5 minutes ago", or the date when it is long past.
 *
 * @param {number} time
 */
export function ago(time, now = serverNow()) {
  const passed = Math.max(0, now - time);
  if (passed < 45) {
    return amounts.justNow;
  }
  if (passed < 3600) {
    return relative().format(-Math.round(passed / 60), "minute");
  }
  if (passed < 86400) {
    return relative().format(-Math.round(passed / 3600), "hour");
  }
  return new Date(time * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) {
    return amounts.bytes(bytes);
  }
  const units = amounts.bytesBy1000;
  let value = bytes;
  let unit = -1;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/**
 * How long a chat's turn took, or takes so far.
 *
 * @param {Chat} chat
 */
export function took(chat) {
  const from = chat.started_at ?? chat.created_at;
  const to = chat.ended_at ?? (isBusy(chat) ? serverNow() : null);
  return to === null ? "" : duration(to - from);
}

/**
 * A cost in USD with two digits that count, at least cents: $12.30, $0.014.
 *
 * @param {number} usd
 */
export function dollars(usd) {
  if (usd === 0 || usd >= 0.1) {
    return `$${usd.toFixed(2)}`;
  }
  return usd < 0.0001 ? "<$0.0001" : `$${Number(usd.toPrecision(2))}`;
}

/** @param {number} ms */
export const milliseconds = (ms) => (ms < 1000 ? amounts.milliseconds(Math.round(ms)) : amounts.seconds((ms / 1000).toFixed(1)));

const DESKTOP_STAGES = ["act_ms", "settle_ms", "capture_ms", "encode_ms"];

/**
 * Time of a step or of all steps: the model, the desktop, and our own code.
 *
 * @param {Timings} timings
 */
export function timesOf(timings) {
  const desktop = DESKTOP_STAGES.reduce((sum, stage) => sum + (timings[stage] || 0), 0);
  /** @type {[string, number][]} */
  const parts = [
    [amounts.times.model, timings.model_ms],
    [amounts.times.desktop, desktop],
    [amounts.times.own, timings.own_ms],
  ];
  return parts.filter(([, ms]) => ms).map(([name, ms]) => `${name} ${milliseconds(ms)}`);
}

/**
 * Every stage of a step, and the tokens of its request, for a tooltip.
 *
 * @param {Pick<Step, "timings" | "usage">} step
 */
export function detailsOf({ timings, usage }) {
  const stages = Object.entries(timings || {}).map(
    ([name, ms]) => `${name.slice(0, -"_ms".length).replaceAll("_", " ")} ${milliseconds(ms)}`,
  );
  /** @type {[string, number][]} */
  const counts = Object.entries(usage || {}).map(([name, count]) => [name, count ?? 0]);
  const tokens = counts
    .filter(([name, count]) => name.endsWith("_tokens") && count)
    .map(([name, count]) => `${name.replaceAll("_", " ")} ${count.toLocaleString()}`);
  return [...stages, ...tokens].join("\n");
}

/**
 * Tokens of a chat, with the share that was read from the cache.
 *
 * @param {Usage} usage
 */
export function tokensOf(usage) {
  const input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const total = input + usage.output_tokens;
  if (!total) {
    return null;
  }
  const cached = usage.cache_read_tokens ? amounts.cached(Math.round((100 * usage.cache_read_tokens) / input)) : "";
  return [amounts.tokens(total.toLocaleString()), cached].filter(Boolean).join(", ");
}
