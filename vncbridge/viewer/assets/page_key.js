// The second half of this browser's session, which a page sends with each of its calls.
//
// Cookies know no ports: a browser sends that of the session to every server of the host. The storage
// of a page is that of its origin, where no other server reads it.

/** The address of the service; several may be below one origin. */
const root = new URL("..", import.meta.url);
const NAME = `deskhand-page-key:${root.pathname}`;
const HEADER = "Deskhand-Page-Key";

/** Of the session of this tab alone, else that of the browser. */
function stored() {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

/**
 * Keeps a key. The one for a tab leaves that of the browser as it is.
 *
 * @param {string} key @param {boolean} forTab
 */
export function keepKey(key, forTab) {
  sessionStorage.removeItem(NAME);
  (forTab ? sessionStorage : localStorage).setItem(NAME, key);
}

/** Whether this browser has signed in at this address, as far as the page knows. */
export function hasKey() {
  return stored() !== null;
}

/** Calls back when another tab of this browser has signed in at this address. @param {() => void} done */
export function whenKeyArrives(done) {
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key === NAME && newValue !== null) {
      done();
    }
  });
}

/** Leaves the session of this tab alone; false if the browser has no other. */
export function leaveTabSession() {
  const leaves = sessionStorage.getItem(NAME) !== null && localStorage.getItem(NAME) !== null;
  if (leaves) {
    sessionStorage.removeItem(NAME);
  }
  return leaves;
}

/** The header with the key of the session, if there is one. @returns {Record<string, string>} */
export function keyHeader() {
  const key = stored();
  return key === null ? {} : { [HEADER]: key };
}

/**
 * `fetch` with the key of the session.
 *
 * @param {string | URL} address  of this service
 * @param {RequestInit} [options]
 */
export function fetchKeyed(address, options = {}) {
  return fetch(address, { ...options, headers: { ...options.headers, ...keyHeader() } });
}

/**
 * The address with a ticket, which opens it once: a browser sends no header of a page with a WebSocket
 * or a link. Without an answer it is the address as it was, whose refusal says why.
 *
 * @param {string | URL} address
 */
export async function ticketed(address) {
  const found = new URL(address);
  try {
    const answer = await fetchKeyed(new URL("api/v0/login/tickets", root), { method: "POST" });
    if (answer.ok) {
      found.searchParams.set("ticket", (await answer.json()).ticket);
    }
  } catch {
    // The service does not answer at all.
  }
  return found;
}

/**
 * Shows a picture that the cookie alone does not open.
 *
 * @param {HTMLImageElement} image @param {string} address
 */
export async function showFile(image, address) {
  const answer = await fetchKeyed(address).catch(() => null);
  // A browser shows the text of the picture if there is none.
  const url = answer?.ok ? URL.createObjectURL(await answer.blob()) : address;
  image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
}

/** @param {MouseEvent} event */
async function follow(event) {
  const link = event.target instanceof Element && event.target.closest("a");
  const isOurs = link instanceof HTMLAnchorElement && link.href.startsWith(new URL("api/", root).href);
  if (!isOurs || event.defaultPrevented || event.button > 1) {
    return;
  }
  event.preventDefault();
  const opened = document.createElement("a");
  opened.href = (await ticketed(link.href)).href;
  if (link.hasAttribute("download")) {
    opened.download = link.download;
  }
  const apart = event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey;
  opened.target = apart ? "_blank" : link.target;
  opened.rel = "noopener";
  opened.click();
}

/** Makes the links of this page to files of the API carry a ticket. */
export function ticketLinks() {
  document.addEventListener("click", follow);
  document.addEventListener("auxclick", follow);
}
