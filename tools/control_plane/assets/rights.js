// What the credential of this page permits beyond reading.
import { get } from "./api.js";

/** Whether it is an administrator's: who was given a share link may neither write nor share on. */
export const isAdministrator = get("api/v0/tokens").then(
  () => true,
  () => false,
);
