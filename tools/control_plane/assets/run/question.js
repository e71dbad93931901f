// @ts-nocheck
// The open question of a run: words for a person, buttons for an approval.
import { address, post } from "../api.js";
import { byId, setText, troubled } from "../dom.js";
import { duration } from "../words.js";
import { showWords } from "./facts.js";

/** @param id of the chat, as it is in an address  @return shows a question, or that there is none */
export function questionBox(id) {
  let asked = null;

  const showLeft = () => {
    const left = asked?.deadline ? Math.max(0, asked.deadline - Date.now() / 1000) : null;
    setText(byId("question-left"), left === null ? "" : `Refused in ${duration(Math.ceil(left))} without an answer.`);
  };

  const answer = (text) =>
    troubled(() => post(`api/v0/chats/${id}/answer`, { answer: text, ...(asked && { question: asked.id }) }));

  byId("answer-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    await answer(form.answer.value);
    form.reset();
  });
  for (const button of byId("decision").querySelectorAll("button")) {
    button.addEventListener("click", () => answer(button.dataset.answer));
  }
  setInterval(showLeft, 1000);

  return (question) => {
    showWords("question-box", "question", question?.question);
    const approval = question?.kind === "approval";
    byId("answer-form").hidden = approval;
    byId("decision").hidden = !approval;
    const call = question?.call;
    byId("question-call").hidden = !call;
    setText(byId("question-call"), call ? `${call.action || call.tool} ${JSON.stringify(call.arguments, null, 2)}` : "");
    const picture = byId("question-picture");
    picture.hidden = !question?.picture;
    if (question?.picture && asked?.picture !== question.picture) {
      picture.href = address(`api/v0/files/${question.picture}`);
      picture.querySelector("img").src = picture.href;
    }
    asked = question || null;
    showLeft();
  };
}
