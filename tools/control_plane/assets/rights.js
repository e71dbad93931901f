// What the credential of this page permits beyond reading.
import { Refused, get } from "./api.js";

/** The status of a request that only administrators may make: 403 for a share link. */
const status = get("api/v0/tokens").then(
  () => 200,
  (error) => (error instanceof Refused ? error.status : 0),
);

/** Whether it is an administrator's: who was given a share link may neither write nor share on. */
export const isAdministrator = status.then((found) => found === 200);

/** Removes the links of this page that lead a guest to pages which the credential does not cover. */
export async function limitLinks() {
  if ((await status) !== 403) {
    return;
  }
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-administrator]"))) {
    link.removeAttribute("href");
  }
}
