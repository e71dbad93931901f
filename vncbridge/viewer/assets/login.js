// Trades the code of the printed link (it travels in the fragment: no server ever logs it) for a
// session: a cookie, and a key that the pages keep.
import { hasKey, keepKey, ticketed, whenKeyArrives } from "./page_key.js";
import { texts } from "./texts.js";

const words = /** @type {HTMLElement} */ (document.getElementById("words"));
const form = /** @type {HTMLFormElement & {code: HTMLInputElement}} */ (document.getElementById("form"));

const query = new URLSearchParams(location.search);
const wanted = query.get("next") || "/";

/** Where to go afterwards: a page of this very service, whatever the address says. */
function next() {
  const root = new URL(".", location.href);
  const target = new URL(wanted.replace(/^\/+/, ""), root);
  // A fragment that was no code belongs to the page, as a time in a video.
  target.hash = location.hash;
  return target.href.startsWith(root.href) ? target.href : root.href;
}

/** @param {string} text @param {boolean} bad */
function say(text, bad) {
  words.textContent = text;
  words.toggleAttribute("data-bad", bad);
}

/** @param {string} code */
async function signIn(code) {
  say(texts.login.signingIn, false);
  form.inert = true;
  try {
    const answer = await fetch("api/v0/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
    });
    if (answer.ok) {
      const { page_key: key, for_tab: forTab } = await answer.json();
      keepKey(key, forTab);
      location.replace(next());
      return;
    }
    const body = await answer.json().catch(() => ({}));
    say(body.message || texts.login.failed(answer.status), true);
  } catch {
    say(texts.login.noAnswer, true);
  }
  form.inert = false;
  form.code.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(form.code.value.trim());
});

function fromFragment() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    // Out of the address bar and the history: a code works once, but still.
    history.replaceState(null, "", location.pathname + location.search);
    signIn(code);
  }
}

/** The button of the provider, on services that have one. @type {HTMLAnchorElement | null} */
const provider = document.querySelector("#provider");
if (provider) {
  provider.search = `?next=${encodeURIComponent(wanted)}`;
}

/** Goes on to an address that the cookie alone does not open, such as a report in a new tab. */
async function goOn() {
  const target = await ticketed(next());
  if (target.searchParams.has("ticket")) {
    location.replace(target);
  } else {
    say(texts.login.again, false);
  }
}

if (query.has("again")) {
  say(texts.login.again, false);
} else if (query.has("next") && hasKey() && !location.hash.includes("code=")) {
  goOn();
}
// One sign-in is enough for all tabs that the restart of a service has sent here.
whenKeyArrives(() => location.replace(next()));
window.addEventListener("hashchange", fromFragment);
fromFragment();
