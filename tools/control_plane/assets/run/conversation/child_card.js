// A child of a chat in a card: its live picture while it works, then its thumbnail, length and outcome.
import { address } from "../../api.js";
import { element, setText } from "../../dom.js";
import { endShot, watchShot } from "../../shots.js";
import { texts } from "../../texts.js";
import { isAtWork, stateOf, took } from "../../words.js";

/** @returns {any} */
export function makeChild() {
  const made = element(
    "div",
    { className: "child" },
    element("div", { className: "shot child-shot" }, element("img", { alt: "", hidden: true })),
    element("div", { className: "child-words" }, element("a", {}), element("span", { className: "badge" }), element("span", { className: "child-length" }), element("button", { type: "button", hidden: true }, texts.conversation.playHere)),
  );
  made.querySelector("button").addEventListener("click", () => play(made));
  // The picture is a larger target for the same; the keyboard has the button.
  made.querySelector(".child-shot").addEventListener("click", () => made.querySelector("button").hidden || play(made));
  return made;
}

/** @param {any} made */
function play(made) {
  const video = element("video", { controls: true, autoplay: true, preload: "metadata", src: address(`api/v0/recordings/${encodeURIComponent(made.dataset.key)}/video`) });
  video.setAttribute("aria-label", texts.conversation.childRecording);
  made.querySelector(".child-shot").replaceChildren(video);
  made.querySelector("button").hidden = true;
  made.querySelector(".child-shot").dataset.plays = "false";
}

/** @param {any} made @param {any} chat */
export function updateChild(made, chat) {
  const link = made.querySelector("a");
  link.href = address(`runs/${encodeURIComponent(chat.id)}`);
  setText(link, chat.title || texts.conversation.untitled);
  const [word, tone] = stateOf(chat);
  const badge = made.querySelector(".badge");
  setText(badge, word);
  badge.dataset.tone = tone;
  setText(made.querySelector(".child-length"), took(chat));
  const live = isAtWork(chat) && chat.mode === "computer_use" ? chat.desktop_id || "" : "";
  const shot = made.querySelector(".child-shot");
  const image = shot.querySelector("img");
  if (image && live && made.dataset.live !== live) {
    watchShot(shot, image, live);
  } else if (!live) {
    // Its desktop may remain for a while, and change.
    endShot(shot);
  }
  made.dataset.live = live;
  if (image && !live && chat.thumbnail_file_id) {
    const src = address(`api/v0/files/${chat.thumbnail_file_id}`);
    if (image.getAttribute("src") !== src) {
      image.src = src;
      image.hidden = false;
    }
  }
  const recorded = !live && (chat.recording_file_ids || []).length > 0;
  made.querySelector("button").hidden = !recorded || !image;
  shot.dataset.plays = String(recorded && Boolean(image));
  shot.hidden = !live && !chat.thumbnail_file_id && Boolean(image);
}
