// What the credential of this page permits beyond reading.
import { Refused, get } from "./api.js";

const NAME = "deskhand-name";

/** @type {Promise<{id: string | null, name: string, role: string, status: number}>} */
const asked = get("api/v0/people/me").then(
  (me) => ({ ...me, status: 200 }),
  (error) => ({ id: null, name: "", role: "", status: error instanceof Refused ? error.status : 0 }),
);

/** The status of a request that only people may make: 403 for a share link. */
const status = asked.then((found) => found.status);

/** The id of the person who is signed in; empty for others. */
export const person = asked.then((found) => found.id ?? "");

/** `owner`, `member` or `watcher`; empty for a share link. */
export const role = asked.then((found) => found.role);

/** Whether it is an administrator's: others may neither keep nor share everything. */
export const isAdministrator = role.then((found) => found === "owner");

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
  if ((await status) !== 403) {
    return;
  }
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-administrator]"))) {
    link.removeAttribute("href");
  }
}
