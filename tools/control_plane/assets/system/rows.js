// The rows of the page System, made of answers of the API.
import { texts } from "../texts.js";
import { ago, size } from "../words.js";

const words = texts.system;

/**
 * A cell: a text, or a link to a run by the id of its chat.
 *
 * @typedef {string | {run: string}} Cell
 */
/** @typedef {{title: string, head: readonly string[], none: string, rows: Cell[][]}} Section */

/** @param {readonly {name: string, files: number, bytes: number}[]} used */
export function kindRows(used) {
  return used.map(({ name, files, bytes }) => [name, files.toLocaleString(texts.language), size(bytes)]);
}

/** @param {readonly {name: string, files: number, bytes: number}[]} used */
export function runRows(used) {
  return used.map(({ name, files, bytes }) => [{ run: name }, files.toLocaleString(texts.language), size(bytes)]);
}

/** @param {readonly {name: string, role: string, signed_in_at: number | null, created_by: string}[]} people */
export function peopleRows(people) {
  return people.map((one) => [
    one.name,
    one.role,
    one.signed_in_at === null ? words.never : ago(one.signed_in_at),
    one.created_by,
  ]);
}

/** @typedef {{name: string, scopes: string[], created_by?: string | null, expires_at?: number | null}} Token */

/** @param {Token} token */
export function isShareLink({ scopes }) {
  return scopes.length > 0 && scopes.every((scope) => /^(run|desktop):[^:]+:(view|conversation)$/.test(scope));
}

/** @param {readonly Token[]} tokens */
export function tokenRows(tokens) {
  return tokens.map((one) => [
    one.name || words.unnamed,
    one.scopes.join(", "),
    one.created_by || "",
    one.expires_at ? new Date(one.expires_at * 1000).toISOString().slice(0, 16).replace("T", " ") : words.never,
  ]);
}

/** @param {readonly {name: string, status: string, created_at: number}[]} desktops */
export function desktopRows(desktops) {
  return desktops.map(({ name, status, created_at: at }) => [name || words.unnamed, status, ago(at)]);
}

/**
 * @param {readonly {name: string, state: string, desktops: number, places: number, failures: number, version: string, reason: string}[]} nodes
 */
export function nodeRows(nodes) {
  return nodes.map(({ name, state, desktops, places, failures, version, reason }) => [
    name,
    state,
    String(desktops),
    String(places),
    String(failures),
    version,
    reason,
  ]);
}

/** @param {readonly {time: string, logger: string, text: string}[]} errors */
export function errorRows(errors) {
  return errors.map(({ time, logger, text }) => [time, logger, text]);
}

/** @param {readonly {name: string, value: string, source: string}[]} settings */
export function settingRows(settings) {
  return settings.map(({ name, value, source }) => [name, value, source]);
}

/** @param {readonly {at: number, actor: string, action: string, subject: string, details: any}[]} records */
export function auditRows(records) {
  return records.map(({ at, actor, action, subject, details }) => [
    new Date(at * 1000).toISOString().slice(0, 19).replace("T", " "),
    actor,
    details.method ? `${action}: ${details.method} ${details.path}` : action,
    subject,
  ]);
}
