// @ts-nocheck
// Stretches of a run video in which idle time was shortened.

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
export function stillsOf(recordings) {
  let begins = 0;
  return recordings.flatMap((recording) => {
    const from = begins;
    begins += recording.video_s || 0;
    // Each part's metadata describe its whole recording.
    return recording.part === 0 ? stillOf(recording.metadata.time_map, from) : [];
  });
}
