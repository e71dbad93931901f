// What people did, as marks of the step list and the time line. Pure.

/** @typedef {import("./nodes.js").Activity} Activity */

/**
 * The second of the run video at a unix time, null outside of it.
 *
 * @param {number} at
 * @param {readonly (readonly [number, number])[]} timeMap  pairs of unix times and seconds of the video
 */
export function videoTimeOf(at, timeMap) {
  const after = timeMap.findIndex(([time]) => time >= at);
  if (after < 0 || at < timeMap[0][0]) {
    return null;
  }
  const [real1, video1] = timeMap[after];
  const [real0, video0] = timeMap[Math.max(0, after - 1)];
  return real1 > real0 ? video0 + ((at - real0) / (real1 - real0)) * (video1 - video0) : video1;
}

/**
 * What people did in the form of steps; control sessions have their places from the recording.
 *
 * @param {readonly Activity[]} people
 * @param {readonly (readonly [number, number])[]} timeMap @param {(activity: Activity) => string} words
 */
export function peopleMarks(people, timeMap, words) {
  return people.map((activity) => {
    const mark = { title: words(activity), text: "", started_at: activity.at, ended_at: activity.at };
    if (activity.kind === "control") {
      const { text, ended_at, video_start, video_end } = activity;
      return { ...mark, text, ended_at: ended_at ?? activity.at, video_start, video_end };
    }
    const time = videoTimeOf(activity.at, timeMap);
    return { ...mark, video_start: time, video_end: time };
  });
}
