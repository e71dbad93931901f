// One run: its recording, its steps and its report. This module composes the parts of the page.
import { get, idFromPath } from "./api.js";
import { watchBell } from "./bell.js";
import { runCard, updateRunCard } from "./cards.js";
import { byId, keyed, troubled } from "./dom.js";
import { chatsAfter } from "./home/known_chats.js";
import { keeping } from "./keeping.js";
import { problemOf } from "./problem.js";
import { limitLinks } from "./rights.js";
import { RunActions } from "./run/conversation/actions.js";
import { activityWords } from "./run/conversation/activity_words.js";
import { showBreadcrumbs } from "./run/conversation/breadcrumbs.js";
import { ChildChanges } from "./run/conversation/child_changes.js";
import { Conversation } from "./run/conversation/conversation.js";
import { LiveScreen } from "./run/conversation/live_screen.js";
import { textOf } from "./run/conversation/nodes.js";
import { peopleMarks } from "./run/conversation/people_marks.js";
import { StepDetails } from "./run/conversation/step_details.js";
import { TalkBox } from "./run/conversation/talk_box.js";
import { showFacts } from "./run/facts.js";
import { showFiles } from "./run/files.js";
import { fileLink } from "./run/panels/file_link.js";
import { Panels } from "./run/panels/panels.js";
import { Recording } from "./run/recording/recording.js";
import { tabs } from "./run/tabs.js";
import { TimeSection } from "./run/time/time_section.js";
import { follow } from "./updates.js";

const id = encodeURIComponent(idFromPath());
/** @type {ChatFile[]} */
let files = [];
const time = new TimeSection(id);
const selectTab = tabs(byId("side-tabs"));
const panels = new Panels(id, selectTab);
const details = new StepDetails(id, (path) => fileLink(path, files, panels));
const recording = new Recording(id, (step) => details.show(step));
const showKept = keeping(id, () => recording.moment());
const conversation = new Conversation(id, (stepId) => details.open(stepId));
const talk = new TalkBox(byId("talk-box"), id);
const live = new LiveScreen(() => talk.focus());
const actions = new RunActions(id);
const childChanges = new ChildChanges(() => again());
let first = true;
/** @type {Run | null} */
let known = null;

/** The run with what people did in place of their control sessions, for the list of steps and the time line.
 *  @param {Run} run */
function withPeople(run) {
  const { people = [], video } = run;
  return { ...run, video: { ...video, sessions: peopleMarks(people, video?.time_map || [], activityWords) } };
}

/** @param {Run} run */
async function show(run) {
  const { recordings, children } = run;
  const chat = Object.assign(run.chat, { rights: run.rights });
  files = chat.files;
  if (first) {
    first = false;
    // A recording is followed by its steps, an agent at work by what it writes.
    selectTab(recordings.length ? "steps-panel" : "conversation-panel");
  }
  known = run;
  childChanges.follow(children);
  showFacts(run);
  showBreadcrumbs(chat);
  showKept(run);
  await recording.show(withPeople(run));
  // A desktop that answers late must not delay the page.
  panels.show(chat).then((changed) => {
    if (changed) {
      details.redraw();
    }
  });
  details.update(chat.steps, run.reads_conversation);
  await talk.show(chat);
  if (await live.show(chat)) {
    byId("preview").hidden = true;
  }
  byId("children-box").hidden = children.length === 0;
  keyed(byId("children"), children, (child) => child.id, runCard, (card, child) => updateRunCard(card, child));
  showFiles(chat.files);
  time.show(chat, recordings.length > 0);
  await conversation.show(run);
  await recording.showMessages(conversation.messages);
  const asked = conversation.messages.find((message) => message.role === "user");
  await actions.show(chat, asked ? textOf(asked.content) : "");
}

/** Shows at once what an event says of the chat; all else is read again.
 *  @param {import("./subscriptions.js").Message} event */
function happened(event) {
  const [chat] = known ? chatsAfter([known.chat], event) : [];
  if (known && chat && chat !== known.chat) {
    known = { ...known, chat };
    showFacts(known);
  }
}

async function read() {
  await troubled(async () => {
    try {
      await show(await get(`api/v0/runs/${id}`));
    } catch (error) {
      // A run that is deleted while its page is open ends there too.
      if (!problemOf(error, "run")) {
        throw error;
      }
    }
  });
}

const again = follow(`chat:${id}`, read, { happened, streamed: (text) => conversation.stream(text) });
watchBell();
limitLinks();
