// A page whose subject is not there, in place of its content: what has happened, and one way on.
import { Refused, address } from "./api.js";
import { element } from "./dom.js";
import { texts } from "./texts.js";

const known = texts.problems;
const HOME = { label: known.toHome, path: "" };
/** @typedef {{label: string, path: string}} Way */
/** @type {Record<string, {title: string, words: string, way: Way}>} */
const PROBLEMS = {
  run: { ...known.run, way: HOME },
  recording: { ...known.recording, way: { label: known.toRuns, path: "runs" } },
  desktop: { ...known.desktop, way: HOME },
  lost: { ...known.lost, way: HOME },
  forbidden: { ...known.forbidden, way: { label: known.toSignIn, path: "login" } },
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
