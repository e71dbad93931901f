// A line on a page that is open while the service does not answer: it was stopped, or is out of reach.
import { Refused } from "./api.js";
import { element } from "./dom.js";
import { texts } from "./texts.js";

const words = texts.outage;
/** A gateway of a proxy, whose service is stopped. */
const GATEWAY = [502, 503, 504];

/** @type {HTMLElement | null} */
let line = null;

/**
 * Shows the line if the failure of a request means that nothing answers.
 *
 * @param {unknown} error
 * @param {() => void} again  connects at once
 */
export function showOutage(error, again) {
  const status = error instanceof Refused ? error.status : -1;
  if (line || (status !== 0 && !GATEWAY.includes(status))) {
    return;
  }
  const button = element("button", { type: "button" }, words.again);
  button.addEventListener("click", again);
  line = element("div", { className: "outage", role: "alert" }, element("p", {}, words.stopped), button);
  document.body.append(/** @type {HTMLElement} */ (line));
}

/** The service answers again. */
export function hideOutage() {
  line?.remove();
  line = null;
}
