// Recordings that were started by hand, and the filter of the list of runs. No DOM.

/** @typedef {{id: string, label: string, status: string, started_at: number, video_s: number, bytes: number, thumbnail_url: string}} DesktopRecording */
/** @typedef {DesktopRecording & {desktop: string, desktopName: string}} HandRecording */

// What only a run has: a recording by hand has no agent, so it fits no such choice.
const OF_RUNS = ["outcome", "model", "person", "needs_person", "pinned"];

/**
 * The recordings that fit the filter, the newest first.
 *
 * @param {readonly HandRecording[]} recordings
 * @param {URLSearchParams} query  as for the API: days are unix times
 * @returns {HandRecording[]}
 */
export function fitting(recordings, query) {
  if (OF_RUNS.some((name) => query.get(name))) {
    return [];
  }
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const since = Number(query.get("since") ?? 0);
  const until = Number(query.get("until") ?? Infinity);
  return recordings
    .filter(({ started_at: at }) => at >= since && at < until)
    .filter(({ label, desktopName }) => {
      const text = `${label} ${desktopName}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => b.started_at - a.started_at);
}
