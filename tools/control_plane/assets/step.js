// @ts-nocheck
// One step in full: what the agent wrote and thought before it, what it ran and received.
import { address, get } from "./api.js";
import { byId, element, setText } from "./dom.js";
import { detailsOf, duration, stepTitle, timesOf } from "./words.js";

const LONGEST_SHOWN = 50_000;

/** The text of a thinking block; each provider has a form of its own, and may keep it secret. */
function thoughtOf({ data }) {
  if (typeof data.thinking === "string") {
    return data.thinking;
  }
  const parts = data.summary || data.parts || [];
  return parts.map((part) => part.text || "").join("\n\n");
}

function textOf(blocks) {
  return blocks
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

/** What a chat's messages know of a call: {said, thought, received}. */
export function exchangeOf(messages, callId) {
  const found = { said: "", thought: "", received: null };
  for (const { content } of messages) {
    const calls = content.filter((block) => block.type === "tool_call");
    if (calls.some((call) => call.id === callId)) {
      found.said = textOf(content);
      found.thought = content.filter((block) => block.type === "thinking").map(thoughtOf).filter(Boolean).join("\n\n");
      const { reason } = calls.find((call) => call.id === callId);
      found.said ||= reason || "";
    }
    const result = content.find((block) => block.type === "tool_result" && block.call_id === callId);
    if (result) {
      found.received = textOf(result.content);
    }
  }
  return found;
}

function part(title, text, className = "") {
  if (!text) {
    return null;
  }
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}\n…` : text;
  const copy = element("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    setText(copy, "Copied");
  });
  return element(
    "div",
    { className: "step-part" },
    element("div", { className: "step-part-head" }, element("h3", {}, title), copy),
    element("pre", { className, tabindex: "0", "aria-label": title }, shown),
  );
}

function collapsed(title, text) {
  return text ? element("details", {}, element("summary", {}, title), element("p", { className: "words" }, text)) : null;
}

export class StepDetails {
  /** @param id of the chat, as it is in an address */
  constructor(id) {
    this.id = id;
    this.messages = [];
    this.shown = null;
    byId("step-close").addEventListener("click", () => this.close());
  }

  close() {
    this.shown = null;
    byId("step-box").hidden = true;
  }

  async show(step) {
    this.shown = step.id;
    const exchange = await this.exchange(step);
    if (this.shown !== step.id) {
      return;
    }
    const words = [step.status, step.ended_at ? duration(step.ended_at - step.started_at) : "", ...timesOf(step.timings || {})];
    setText(byId("step-title"), stepTitle(step));
    setText(byId("step-facts"), words.filter(Boolean).join(" · "));
    byId("step-facts").title = detailsOf(step);
    const picture =
      step.screenshot_file_id &&
      element(
        "a",
        { className: "shot", href: address(`api/v0/files/${step.screenshot_file_id}`), "aria-label": "The screen afterwards" },
        element("img", { alt: "The screen afterwards", src: address(`api/v0/files/${step.screenshot_file_id}`) }),
      );
    const shown = [
      exchange.said && element("p", { className: "words" }, exchange.said),
      collapsed("What it thought", exchange.thought),
      part(`Arguments of ${step.tool}`, JSON.stringify(step.arguments, null, 2)),
      part("Error", step.error, "bad"),
      exchange.received === step.error ? null : part("Result", exchange.received),
      picture,
    ];
    byId("step-body").replaceChildren(...shown.filter(Boolean));
    byId("step-box").hidden = false;
  }

  /** Reads the messages once, and again for a step that is newer. */
  async exchange(step) {
    const known = exchangeOf(this.messages, step.tool_call_id);
    if (known.received !== null) {
      return known;
    }
    try {
      this.messages = (await get(`api/v0/chats/${this.id}/messages`)).messages;
    } catch {
      // A share link may cover the steps without the conversation.
      return known;
    }
    return exchangeOf(this.messages, step.tool_call_id);
  }
}
