// Numbers and states in words.
import { serverNow } from "./server_clock.js";

/** @type {Record<string, [string, Tone]>} */
const STATES = {
  queued: ["Queued", "quiet"],
  waiting: ["At rest", "quiet"],
  running: ["Working", "busy"],
  interrupting: ["Stopping", "busy"],
  requires_action: ["Needs a person", "warn"],
  error: ["Failed", "bad"],
};
/** @type {Record<string, [string, Tone]>} */
const OUTCOMES = {
  done: ["Done", "good"],
  partly: ["Partly done", "warn"],
  blocked: ["Blocked", "warn"],
  failed: ["Failed", "bad"],
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
const at = (/** @type {Arguments} */ { coordinate }) => (Array.isArray(coordinate) ? `at ${coordinate.join(", ")}` : "");
const pressed = (/** @type {string} */ verb) => (/** @type {Arguments} */ args) => at(args) && `${verb} ${at(args)}`;
const withOne = (/** @type {string} */ verb, /** @type {string} */ name) => (/** @type {Arguments} */ args) => args[name] && `${verb} ${line(args[name])}`;

// What a step does, for people; a step whose arguments do not fit keeps its title.
/** @type {Record<string, (args: Arguments) => string | undefined>} */
const STEP_TITLES = {
  screenshot: () => "Look at the screen",
  zoom: () => "Look closer",
  cursor_position: () => "Ask where the pointer is",
  wait: () => "Wait",
  left_click: pressed("Click"),
  right_click: pressed("Right-click"),
  middle_click: pressed("Middle-click"),
  double_click: pressed("Double-click"),
  triple_click: pressed("Triple-click"),
  mouse_move: pressed("Point"),
  left_click_drag: pressed("Drag to a point"),
  scroll: (args) => at(args) && `Scroll ${args.scroll_direction || ""} ${at(args)}`.replace("  ", " "),
  key: withOne("Press", "text"),
  type: (args) => args.text && `Type “${line(args.text)}”`,
  execute: withOne("Run", "command"),
  read_file: withOne("Read", "path"),
  write_file: withOne("Write", "path"),
  edit_files: () => "Edit files",
  process_list: () => "List running commands",
  process_output: () => "Read a command's output",
  process_signal: () => "Signal a command",
  type_secret: (args) => args.name && `Type the secret “${line(args.name)}”`,
  attach_file: withOne("Hand over", "path"),
  list_mcp_tools: () => "List the tools of MCP servers",
  call_mcp_tool: withOne("Call", "tool_name"),
  approve_mcp_server: withOne("Ask a person about the MCP server", "server"),
  request_human: withOne("Ask a person:", "reason"),
  spawn_computer_use_agent: (args) => `Start an agent: ${line(args.title || args.prompt || "")}`,
  spawn_agent: (args) => `Start an agent: ${line(args.title || args.prompt || "")}`,
  wait_agent: () => "Wait for an agent",
  message_agent: withOne("Message an agent:", "message"),
  interrupt_agent: () => "Interrupt an agent",
  close_agent: () => "Close an agent",
  list_agents: () => "List the agents",
  report: () => "Report",
  navigate: withOne("Open", "url"),
  find: withOne("Find on the page:", "query"),
  form_input: () => "Fill in a field",
  get_page_text: () => "Read the text of the page",
  read_page: () => "Read the page",
  read_screen: () => "Read the screen as text",
  scroll_to: () => "Scroll to an element",
  search_files: withOne("Search files for", "pattern"),
  wait_for: () => "Wait for something to happen",
};

/**
 * A step in words: 'Click at 3, 4'.
 *
 * @param {Pick<Step, "tool" | "action" | "title" | "arguments">} step
 * @returns {string}
 */
export function stepTitle(step) {
  const title = STEP_TITLES[step.action || step.tool];
  return (title && title(step.arguments || {})) || inWords(step.title || step.action || step.tool);
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
    return `${Math.max(0, seconds).toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  if (whole < 60) {
    return `${whole} s`;
  }
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
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

/** @type {Intl.RelativeTimeFormat | null} made when it is needed first, as that takes long */
let relativeFormat = null;
const relative = () => (relativeFormat ??= new Intl.RelativeTimeFormat("en", { numeric: "auto" }));

/**
 * A unix time as "5 minutes ago", or the date when it is long past.
 *
 * @param {number} time
 */
export function ago(time, now = serverNow()) {
  const passed = Math.max(0, now - time);
  if (passed < 45) {
    return "just now";
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
    return `${bytes} B`;
  }
  const units = ["kB", "MB", "GB"];
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

const milliseconds = (/** @type {number} */ ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
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
    ["model", timings.model_ms],
    ["desktop", desktop],
    ["own", timings.own_ms],
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
  const cached = usage.cache_read_tokens ? `, ${Math.round((100 * usage.cache_read_tokens) / input)} % of input cached` : "";
  return `${total.toLocaleString()} tokens${cached}`;
}
