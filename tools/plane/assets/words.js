// Numbers and states in words.

const STATES = {
  queued: ["Queued", "quiet"],
  waiting: ["At rest", "quiet"],
  running: ["Working", "busy"],
  interrupting: ["Stopping", "busy"],
  requires_action: ["Needs a person", "warn"],
  error: ["Failed", "bad"],
};
const OUTCOMES = {
  done: ["Done", "good"],
  partly: ["Partly done", "warn"],
  blocked: ["Blocked", "warn"],
  failed: ["Failed", "bad"],
};

/** [word, tone] of a chat: what it does, or what came of it. */
export function stateOf(chat) {
  if (chat.state === "waiting" && chat.outcome) {
    return OUTCOMES[chat.outcome] || [chat.outcome, "quiet"];
  }
  return STATES[chat.state] || [chat.state, "quiet"];
}

export function isBusy(chat) {
  return ["queued", "running", "interrupting"].includes(chat.state);
}

/** 75.2 -> "1 min 15 s" */
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

/** 75.2 -> "1:15" */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const rest = String(whole % 60).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** A unix time as "5 minutes ago", or the date when it is long past. */
export function ago(time, now = Date.now() / 1000) {
  const passed = Math.max(0, now - time);
  if (passed < 45) {
    return "just now";
  }
  if (passed < 3600) {
    return relative.format(-Math.round(passed / 60), "minute");
  }
  if (passed < 86400) {
    return relative.format(-Math.round(passed / 3600), "hour");
  }
  return new Date(time * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
}

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

/** How long a chat's turn took, or takes so far. */
export function took(chat) {
  const from = chat.started_at ?? chat.created_at;
  const to = chat.ended_at ?? (isBusy(chat) ? Date.now() / 1000 : null);
  return to === null ? "" : duration(to - from);
}
