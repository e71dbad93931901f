// @ts-nocheck
// One run: its recording, its steps and its report. This module composes the parts of the page.
import { get, idFromPath, post } from "./api.js";
import { watchBell } from "./bell.js";
import { runCard, updateRunCard } from "./cards.js";
import { byId, keyed, troubled } from "./dom.js";
import { follow } from "./events.js";
import { keeping } from "./keeping.js";
import { messageBox } from "./message.js";
import { problemOf } from "./problem.js";
import { showFacts, showWords } from "./run/facts.js";
import { showFiles } from "./run/files.js";
import { questionBox } from "./run/question.js";
import { Recording } from "./run/recording/recording.js";
import { StepDetails } from "./step.js";

const id = encodeURIComponent(idFromPath());
const details = new StepDetails(id);
const recording = new Recording(id, (step) => details.show(step));
const showKept = keeping(id, () => recording.moment());
const showMessageBox = messageBox(id);
const showQuestion = questionBox(id);

function show(run) {
  const { chat, recordings, children } = run;
  showFacts(run);
  showKept(recordings);
  recording.show(run);
  showQuestion(chat.requires_action);
  showMessageBox(chat);
  byId("children-box").hidden = children.length === 0;
  keyed(byId("children"), children, (child) => child.id, runCard, (card, child) => updateRunCard(card, child));
  showFiles(chat.files);
}

async function readPrompt() {
  await troubled(async () => {
    const { messages } = await get(`api/v0/chats/${id}/messages`).catch((error) => {
      // A share link covers the conversation only if that was chosen when it was made.
      if (error.status === 403) {
        return { messages: [] };
      }
      throw error;
    });
    const first = messages.find((message) => message.role === "user");
    const texts = (first?.content || []).filter((block) => block.type === "text");
    showWords("prompt-box", "prompt", texts.map((block) => block.text).join("\n\n"));
  });
}

async function read() {
  await troubled(async () => {
    try {
      show(await get(`api/v0/runs/${id}`));
    } catch (error) {
      // A run that is deleted while its page is open ends there too.
      if (!problemOf(error, "run")) {
        throw error;
      }
    }
  });
}

byId("stop").addEventListener("click", () => troubled(() => post(`api/v0/chats/${id}/interrupt`)));
readPrompt();
follow(`api/v0/chats/${id}/events`, read);
watchBell();
