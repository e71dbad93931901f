// @ts-nocheck
// The list of a run's steps: a click shows a step in the video.
import { address } from "../../api.js";
import { byId, element, keyed, setText } from "../../dom.js";
import { clock, detailsOf, dollars, duration, stepTitle, timesOf } from "../../words.js";

export class StepList {
  /** @param list the element  @param player of the recording  @param chosen called with a step that was clicked */
  constructor(list, player, chosen) {
    this.list = list;
    this.player = player;
    this.chosen = chosen;
    this.steps = [];
    this.startedAt = 0;
  }

  show(steps, startedAt) {
    this.steps = steps;
    this.startedAt = startedAt;
    keyed(this.list, steps, (step) => step.id, (step) => this.row(step), (row, step) => this.update(row, step));
    byId("steps-none").hidden = steps.length > 0;
  }

  highlight(step) {
    for (const row of this.list.children) {
      const current = step !== null && row.dataset.key === step.id;
      const button = row.querySelector("button");
      if (current && button.getAttribute("aria-current") !== "step") {
        button.setAttribute("aria-current", "step");
        this.keepInView(row);
      } else if (!current) {
        button.removeAttribute("aria-current");
      }
    }
  }

  // Scrolls the list alone: the page itself stays where the person left it.
  keepInView(row) {
    const { list } = this;
    if (list.scrollHeight > list.clientHeight) {
      const middle = row.offsetTop - list.offsetTop - list.clientHeight / 2 + row.offsetHeight / 2;
      list.scrollTo({ top: middle, behavior: "smooth" });
    }
  }

  row(step) {
    const row = element(
      "li",
      {},
      element(
        "button",
        { type: "button" },
        element("span", { className: "step-time" }),
        element(
          "span",
          { className: "step-words" },
          element("span", { className: "step-title" }),
          element("span", { className: "step-more" }),
        ),
        element("img", { alt: "", loading: "lazy", decoding: "async", hidden: true }),
      ),
    );
    row.querySelector("button").addEventListener("click", () => {
      const found = this.steps.find((each) => each.id === row.dataset.key);
      if (found) {
        this.chosen(found);
      }
    });
    return row;
  }

  update(row, step) {
    const inVideo = typeof step.video_start === "number";
    // Two clocks in one column would mislead: with a video, a step outside of it has no time.
    const outside = this.player.total ? "–" : clock(step.started_at - this.startedAt);
    setText(row.querySelector(".step-time"), inVideo ? clock(step.video_start, this.player.fine) : outside);
    setText(row.querySelector(".step-title"), stepTitle(step));
    const taken = step.ended_at ? duration(step.ended_at - step.started_at) : "running";
    const kind = step.action ? "" : step.tool;
    const cost = step.usage?.cost_usd ? dollars(step.usage.cost_usd) : "";
    const times = step.ended_at ? timesOf(step.timings) : [];
    const more = row.querySelector(".step-more");
    setText(more, [kind, taken, step.error, cost, ...times].filter(Boolean).join(" · "));
    more.title = detailsOf(step);
    row.dataset.tone = step.error || step.status === "failed" ? "bad" : step.status === "running" ? "busy" : "";
    row.querySelector("button").title = inVideo ? "Show it in the video" : "";
    const image = row.querySelector("img");
    if (step.screenshot_file_id && !image.getAttribute("src")) {
      image.src = address(`api/v0/files/${step.screenshot_file_id}`);
      image.hidden = false;
    }
  }
}
