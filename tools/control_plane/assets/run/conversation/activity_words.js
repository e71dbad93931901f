// What people did in a run, in words.
import { duration } from "../../words.js";

/** @param {import("./nodes.js").Activity} activity */
export function activityWords({ kind, by, text, at, ended_at: ended, private: hidden }) {
  switch (kind) {
    case "control":
      return [`${by} had control`, ended ? duration(ended - at) : "until now", hidden && "private"].filter(Boolean).join(", ");
    case "answer":
      return `${by} answered: ${text}`;
    case "message":
      return `${by} sent a message`;
    case "stop":
      return `${by} stopped the agent`;
    default:
      return `${by}: ${text || kind}`;
  }
}
