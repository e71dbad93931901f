// A page whose subject is not there, in place of its content: what has happened, and one way on.
import { Refused, address } from "./api.js";
import { element } from "./dom.js";

const HOME = { label: "Go to all desktops and runs", path: "" };
/** @typedef {{label: string, path: string}} Way */
/** @type {Record<string, {title: string, words: string, way: Way}>} */
const PROBLEMS = {
  run: { title: "There is no such run", words: "It was deleted, or the address is mistyped.", way: HOME },
  recording: { title: "There is no such recording", words: "It was deleted, or its desktop has ended.", way: { label: "Go to all runs and recordings", path: "runs" } },
  desktop: { title: "This desktop is gone", words: "It has ended, or the address is mistyped.", way: HOME },
  lost: { title: "This desktop was lost", words: "Its service ended unexpectedly. What it had recorded is kept with its run.", way: HOME },
  forbidden: {
    title: "This sign-in does not permit that",
    words: "You are signed in with a link that covers something else.",
    way: { label: "Sign in with another link", path: "login" },
  },
};

/**
 * Shows a problem by its name; `way` replaces the usual way on.
 *
 * @param {string} name
 * @param {Way} [way]
 */
export function showProblem(name, way) {
  const content = document.querySelector("main");
  if (!content || content.hidden) {
    return;
  }
  const { title, words, way: usual } = PROBLEMS[name];
  const { label, path } = way || usual;
  document.title = `${title} · Deskhand`;
  // Hidden and not removed: other parts of the page may still write into it.
  content.hidden = true;
  content.after(
    element(
      "main",
      { className: "problem" },
      element("h1", {}, title),
      element("p", {}, words),
      element("a", { className: "as-button primary", href: address(path) }, label),
    ),
  );
}

/**
 * Shows the problem that a refused request for `subject` means; false if the refusal may pass.
 *
 * @param {unknown} error
 * @param {string} subject
 */
export function problemOf(error, subject) {
  const status = error instanceof Refused ? error.status : 0;
  const name = status === 403 ? "forbidden" : status === 404 ? subject : "";
  if (name) {
    showProblem(name);
  }
  return Boolean(name);
}
