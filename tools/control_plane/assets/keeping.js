// @ts-nocheck
// What an administrator may do with a run: keep it whatever its age, share it, and save it as a playbook.
import { address, post, put, remove } from "./api.js";
import { byId, setText, troubled } from "./dom.js";
import { isAdministrator } from "./rights.js";

// A person who shares a step has its first moments on the screen.
const STEP_SECONDS = 0.25;

/** What a link needs to open at a moment: the step that begins there, or else the milliseconds. */
function placeOf({ time, step }) {
  if (step && Math.abs(time - step.video_start) < STEP_SECONDS) {
    return `?step=${encodeURIComponent(step.id)}`;
  }
  return time > 0.5 ? `?t=${time.toFixed(3)}` : "";
}

/** @param id the chat's  @param moment gives {time, step} of the video that is shown */
export function keeping(id, moment) {
  const pin = byId("pin");
  const share = byId("share");
  const playbook = byId("playbook");
  const box = byId("share-box");
  const link = byId("share-link");
  const conversation = byId("share-conversation");
  let allowed = false;
  let recorded = false;
  let token = null;

  const draw = () => {
    pin.hidden = share.hidden = playbook.hidden = !(allowed && recorded);
  };

  const showPinned = (pinned) => {
    pin.setAttribute("aria-pressed", String(pinned));
    setText(pin, pinned ? "Pinned" : "Pin");
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
      setText(words, `Saved as ${saved.name}. Replay it: deskhand playbook run ${saved.name}`);
      words.hidden = false;
    }),
  );

  const report = (words) => setText(byId("share-words"), words);

  const makeLink = async () => {
    const part = conversation.checked ? "conversation" : "view";
    token = await post("api/v0/tokens", { scopes: [`run:${id}:${part}`], name: document.title });
    const shown = "video, steps and report";
    report(
      conversation.checked
        ? `This link is valid for seven days. It shows ${shown}, the conversation and its files.`
        : `This link is valid for seven days. It shows ${shown}, not the conversation.`,
    );
  };

  const showLink = () => {
    const page = `/runs/${id}${placeOf(moment())}`;
    link.value = address(`login?next=${encodeURIComponent(page)}#code=${token.token}`);
  };

  share.addEventListener("click", () =>
    troubled(async () => {
      if (!token) {
        await makeLink();
      }
      showLink();
      box.hidden = false;
      link.focus();
      link.select();
    }),
  );

  // A link never changes what it covers: the other choice is another link, and ends this one.
  conversation.addEventListener("change", () =>
    troubled(async () => {
      const earlier = token;
      conversation.disabled = true;
      try {
        await makeLink();
      } finally {
        conversation.disabled = false;
      }
      showLink();
      await remove(`api/v0/tokens/${earlier.id}`);
    }),
  );

  byId("share-copy").addEventListener("click", () =>
    troubled(async () => {
      link.select();
      try {
        await navigator.clipboard.writeText(link.value);
        report("Copied.");
      } catch {
        // Without TLS a browser may refuse; the link is selected, so that Ctrl+C does it.
        report("Press Ctrl+C to copy it.");
      }
    }),
  );

  byId("share-end").addEventListener("click", () =>
    troubled(async () => {
      await remove(`api/v0/tokens/${token.id}`);
      token = null;
      conversation.checked = false;
      box.hidden = true;
      share.focus();
    }),
  );

  isAdministrator.then((may) => {
    allowed = may;
    draw();
  });

  return (recordings) => {
    recorded = recordings.length > 0;
    showPinned(recorded && recordings.every((each) => each.pinned));
    draw();
  };
}
