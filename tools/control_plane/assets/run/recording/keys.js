// The keys of a recording. Pure.
import { texts } from "../../texts.js";

/** @typedef {{command: string, keys: string[], words: string}} Shortcut */

/** @type {Shortcut[]} */
export const SHORTCUTS = [
  { command: "play", keys: ["Space", "k"], words: texts.recording.playOrPause },
  { command: "previousStep", keys: ["ArrowLeft", "j"], words: texts.recording.previousStep },
  { command: "nextStep", keys: ["ArrowRight", "l"], words: texts.recording.nextStep },
  { command: "back", keys: ["Shift+ArrowLeft"], words: texts.recording.back },
  { command: "forward", keys: ["Shift+ArrowRight"], words: texts.recording.forward },
  { command: "previousFrame", keys: [","], words: texts.recording.previousFrame },
  { command: "nextFrame", keys: ["."], words: texts.recording.nextFrame },
  { command: "slower", keys: ["["], words: texts.recording.slower },
  { command: "faster", keys: ["]"], words: texts.recording.faster },
  { command: "nextFailure", keys: ["e"], words: texts.recording.nextFailure },
  { command: "spanBegin", keys: ["i"], words: texts.recording.begin },
  { command: "spanEnd", keys: ["o"], words: texts.recording.end },
  { command: "loop", keys: ["r"], words: texts.recording.loop },
  { command: "zoomIn", keys: ["+"], words: texts.recording.zoomIn },
  { command: "zoomOut", keys: ["-"], words: texts.recording.zoomOut },
  { command: "zoomAll", keys: ["0"], words: texts.recording.zoomAll },
  { command: "filter", keys: ["/"], words: texts.recording.filter },
  { command: "overlays", keys: ["c"], words: texts.recording.overlays },
  { command: "fullScreen", keys: ["f"], words: texts.recording.fullScreen },
  { command: "live", keys: ["t"], words: texts.recording.live },
  { command: "help", keys: ["?"], words: texts.recording.help },
];

const NAMES = { " ": "Space", "=": "+" };
const COMMANDS = new Map(SHORTCUTS.flatMap(({ command, keys }) => keys.map((key) => [key, command])));

/** The command of a key press, if it has one. @param {{key: string, shiftKey: boolean, ctrlKey: boolean, altKey: boolean, metaKey: boolean}} press */
export function commandOf({ key, shiftKey, ctrlKey, altKey, metaKey }) {
  if (ctrlKey || altKey || metaKey) {
    return null;
  }
  const name = NAMES[/** @type {keyof typeof NAMES} */ (key)] || key;
  // The shift of a printable key is part of the key.
  const arrow = name.startsWith("Arrow");
  return COMMANDS.get(arrow && shiftKey ? `Shift+${name}` : name) || null;
}

export const RATES = [0.25, 0.5, 1, 1.5, 2, 4, 8];

/** @param {number} rate @param {1 | -1} direction */
export function nextRate(rate, direction) {
  const found = direction > 0 ? RATES.find((each) => each > rate) : RATES.filter((each) => each < rate).at(-1);
  return found ?? rate;
}

/** @param {string} key as in the table */
export function keyWords(key) {
  const words = /** @type {Record<string, string>} */ (texts.recording.keys);
  return words[key] || key;
}
