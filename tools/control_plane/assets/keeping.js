// What an owner may do with a run: keep it whatever its age, share it, and save it as a playbook. A
// member shares own runs with the team.
import { post, put, remove } from "./api.js";
import { byId, setText, troubled } from "./dom.js";
import { role } from "./rights.js";
import { Share } from "./run/share/share.js";
import { texts } from "./texts.js";
import { isAtWork } from "./words.js";

// A person who shares a step has its first moments on the screen.
const STEP_SECONDS = 0.25;

/** @typedef {{time: number, step?: {id: string, video_start: number | null} | null}} Moment */

/**
 * What a link needs to open at a moment: the step that begins there, or else the milliseconds.
 *
 * @param {Moment} moment
 */
function placeOf({ time, step }) {
  if (step && step.video_start !== null && Math.abs(time - step.video_start) < STEP_SECONDS) {
    return `?step=${encodeURIComponent(step.id)}`;
  }
  return time > 0.5 ? `?t=${time.toFixed(3)}` : "";
}

/**
 * @param {string} id  of the chat
 * @param {() => Moment} moment  of the video that is shown
 * @returns {(seen: {chat: Chat, recordings: RunPart[]}) => void}
 */
export function keeping(id, moment) {
  const pin = byId("pin");
  const share = byId("share");
  const playbook = byId("playbook");
  let allowed = false;
  let sharing = false;
  let recorded = false;

  const draw = () => {
    pin.hidden = playbook.hidden = !(allowed && recorded);
    share.hidden = !sharing;
  };

  const showPinned = (/** @type {boolean} */ pinned) => {
    pin.setAttribute("aria-pressed", String(pinned));
    setText(pin, pinned ? texts.keeping.pinned : texts.keeping.pin);
  };

  pin.addEventListener("click", () =>
    troubled(async () => {
      const call = pin.getAttribute("aria-pressed") === "true" ? remove : put;
      showPinned((await call(`api/v0/runs/${id}/pin`)).pinned);
    }),
  );

  playbook.addEventListener("click", () =>
    troubled(async () => {
      const words = byId("playbook-words");
      const saved = await post("api/v0/playbooks", { run: id });
      setText(words, texts.keeping.saved(saved.name));
      words.hidden = false;
    }),
  );

  const shared = new Share(id, () => placeOf(moment()));

  role.then(async (found) => {
    allowed = found === "owner";
    draw();
    sharing = await shared.permit(found);
    draw();
  });

  return ({ chat, recordings }) => {
    shared.show(chat, isAtWork(chat));
    recorded = recordings.length > 0;
    showPinned(recorded && recordings.every((each) => Boolean(each.pinned)));
    draw();
  };
}
