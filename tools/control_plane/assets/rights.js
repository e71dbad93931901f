// What the credential of this page permits beyond reading.
import { get } from "./api.js";

const NAME = "deskhand-name";

/** @type {Promise<{id: string | null, name: string, role: string, scopes: string[]}>} */
const asked = get("api/v0/people/me").catch(() => ({ id: null, name: "", role: "", scopes: [] }));

/** Whether it is a share link's or a token's: those have scopes in place of a role. */
export const isGuest = asked.then((found) => found.scopes.length > 0);

/** The id of the person who is signed in; empty for others. */
export const person = asked.then((found) => found.id ?? "");

/** `owner`, `member` or `watcher`; empty for a share link. */
export const role = asked.then((found) => found.role);

/** Whether it is an administrator's: others may neither keep nor share everything. */
export const isAdministrator = role.then((found) => found === "owner");

/**
 * Whether a guest may do that with a desktop; true for people, of whom the service knows more.
 *
 * @param {string} desktop
 * @param {("view" | "control")[]} levels  of which one is enough
 */
export async function coversDesktop(desktop, ...levels) {
  const { scopes } = await asked;
  return scopes.length === 0 || levels.some((level) => scopes.includes(`desktop:${desktop}:${level}`));
}

/**
 * Whether a guest of a run may read the one that started it; true for people. A link to a run covers
 * those below it too.
 *
 * @param {string} run @param {string} parent
 */
export async function coversParent(run, parent) {
  const { scopes } = await asked;
  const isNamed = (/** @type {string} */ id) => scopes.some((scope) => scope.split(":")[1] === id);
  return scopes.length === 0 || isNamed(parent) || !isNamed(run);
}

/** Whether a guest may read any run; true for people. */
export const coversRuns = asked.then(({ scopes }) => scopes.length === 0 || scopes.some((one) => /^(run|chat):/.test(one)));

asked.then(({ id, name }) => {
  if (id) {
    try {
      // Who has signed in is not asked for a name before taking control.
      localStorage.setItem(NAME, name);
    } catch {
      // Private windows may have no storage: then the name is asked.
    }
  }
});

/** Removes the links of this page that lead a guest to pages which the credential does not cover. */
export async function limitLinks() {
  if (!(await isGuest)) {
    return;
  }
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-administrator]"))) {
    link.removeAttribute("href");
  }
}
