// The elements of a conversation's nodes.
import { showFile } from "../../../viewer/page_key.js";
import { address } from "../../api.js";
import { element, keyed, setText } from "../../dom.js";
import { texts } from "../../texts.js";
import { duration, stepTitle } from "../../words.js";
import { makeChild, updateChild } from "./child_card.js";
import { childIdsOf } from "./children.js";
import { longText } from "./long_text.js";
import { isFailed } from "./nodes.js";

/** @typedef {import("./nodes.js").ConversationNode} ConversationNode */

const LONGEST_PREVIEW = 600;
const STATUS = /** @type {Record<string, string>} */ (texts.conversation.status);
const words = texts.conversation;

/** @param {number} at */
const timeOf = (at) =>
  element("time", { dateTime: new Date(at * 1000).toISOString() }, new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }));

/** @param {ConversationNode} node @param {(stepId: string) => void} open */
function cardOf(node, open) {
  const summary = element(
    "summary",
    {},
    element("span", { className: "card-mark", "aria-hidden": "true" }),
    element("span", { className: "card-words" }),
    element("span", { className: "card-facts" }),
  );
  const button = element("button", { type: "button", className: "card-details" }, words.details);
  button.addEventListener("click", () => open(card.dataset.step));
  const card = element("details", { className: "call-card" }, summary, element("div", { className: "card-body" }, element("div", { className: "card-children" }), element("p", { className: "card-error" }), element("pre", { className: "card-output", tabindex: "0", "aria-label": words.output }), button));
  card.addEventListener("toggle", () => {
    card.toggled = card.open !== card.wanted;
  });
  return card;
}

/** @param {any} card @param {ConversationNode} node @param {any[]} children @param {boolean} busy */
function updateCard(card, node, children, busy) {
  const ids = childIdsOf(node);
  const own = children.filter((child) => ids.includes(child.id));
  keyed(card.querySelector(".card-children"), own, (child) => child.id, makeChild, updateChild);
  const { step, call } = node;
  const shown = /** @type {any} */ (step) || { tool: call?.name, action: null, arguments: call?.arguments || {}, status: busy && !node.output ? "running" : "done" };
  card.dataset.step = step?.id || "";
  card.dataset.tone = isFailed(node) ? "bad" : shown.status === "running" ? "busy" : shown.status === "interrupted" ? "quiet" : "good";
  setText(card.querySelector(".card-words"), stepTitle(shown));
  const taken = step?.ended_at ? duration(step.ended_at - step.started_at) : "";
  setText(card.querySelector(".card-facts"), [shown.tool, taken, STATUS[shown.status] || shown.status].filter(Boolean).join(" · "));
  const error = card.querySelector(".card-error");
  error.hidden = !step?.error;
  setText(error, step?.error || "");
  const output = card.querySelector(".card-output");
  const text = node.output && node.output !== step?.error ? node.output : "";
  output.hidden = !text;
  setText(output, text.length > LONGEST_PREVIEW ? `${text.slice(0, LONGEST_PREVIEW)} …` : text);
  card.querySelector(".card-details").hidden = !step;
  // A card that a person opened or closed stays as it is.
  if (!card.toggled) {
    const open = isFailed(node) || own.length > 0;
    card.wanted = open;
    card.open = open;
  }
}

/** @param {ConversationNode} node */
function messageOf(node) {
  const pictures = (node.files || []).map((file) => {
    const image = element("img", { alt: words.attached });
    const stored = address(`api/v0/files/${file.file_id}`);
    showFile(image, stored);
    return element("a", { className: "shot", href: stored }, image);
  });
  return element("article", { className: "said", "aria-label": words.message }, element("header", {}, element("strong", {}, words.person), element("span", { className: "said-queued" }), timeOf(node.at)), longText(node.text || ""), ...pictures);
}

/** @param {ConversationNode} node */
function activityOf({ activity }) {
  if (!activity) {
    return element("p");
  }
  return element("p", { className: "activity", "data-kind": activity.kind }, element("span", { className: "activity-words" }), timeOf(activity.at));
}

/** Makes the element of a node; `open` shows the details of a step.
 *  @param {ConversationNode} node @param {(stepId: string) => void} open */
export function makeNode(node, open) {
  switch (node.kind) {
    case "message":
      return messageOf(node);
    case "text":
      return element("article", { className: "agent-text", "aria-label": words.agent }, longText(node.text || ""));
    case "streaming":
      return element("article", { className: "agent-text streaming", "aria-label": words.agent, "aria-busy": "true" }, element("div", { className: "markdown" }, element("p", { className: "words" })));
    case "thinking":
      return element("details", { className: "thinking" }, element("summary", {}, words.thinking), element("p", { className: "words" }, node.text || ""));
    case "summary":
      return element("p", { className: "activity" }, words.summarized);
    case "activity":
      return activityOf(node);
    default:
      return cardOf(node, open);
  }
}

/** Draws what has changed; `children` are the chats that this one started, `busy` whether it works.
 *  @param {any} made @param {ConversationNode} node @param {(activity: any) => string} inWords @param {any[]} children @param {boolean} busy */
export function updateNode(made, node, inWords, children, busy) {
  if (node.kind === "call") {
    updateCard(made, node, children, busy);
  } else if (node.kind === "streaming") {
    setText(made.querySelector(".words"), node.text || "");
  } else if (node.kind === "message") {
    setText(made.querySelector(".said-queued"), node.queued ? words.queued : "");
  } else if (node.kind === "activity") {
    setText(made.querySelector(".activity-words"), inWords(node.activity));
  }
}
