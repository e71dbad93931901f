// Who has control of a desktop, and how many watch it, in words. No DOM.
import { texts } from "../texts.js";

const words = texts.home;

/** @typedef {{holder?: {kind: string, name?: string}, private?: boolean, watchers?: number}} Lease */

/**
 * @param {Lease} lease  the state of a topic `viewers:ID`
 * @returns {string[]}
 */
export function presenceOf({ holder, private: hidden = false, watchers = 0 }) {
  const control = holder?.kind === "person" ? words.hasControl(holder.name ?? "") : "";
  const shown = [control && hidden ? `${control}, ${words.private}` : control, watchers ? words.watch(watchers) : ""];
  return shown.filter(Boolean);
}
