// What people did in a run, in words.
import { texts } from "../../texts.js";
import { duration } from "../../words.js";

/** @param {import("./nodes.js").Activity} activity */
export function activityWords({ kind, by, text, at, ended_at: ended, private: hidden }) {
  const words = texts.activity;
  const person = by || words.person;
  switch (kind) {
    case "control":
      return [words.hadControl(person), ended ? duration(ended - at) : words.untilNow, hidden && words.private].filter(Boolean).join(", ");
    case "answer":
      return text ? words.answered(person, text) : words.answeredSomething(person);
    case "message":
      return words.sentMessage(person);
    case "stop":
      return words.stopped(person);
    default:
      return `${person}: ${text || kind}`;
  }
}
