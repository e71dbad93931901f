// The page System: what an owner needs to know about one control plane.
import { address, get } from "./api.js";
import { byId, element, setText, troubled } from "./dom.js";
import {
  auditRows,
  desktopRows,
  errorRows,
  isShareLink,
  kindRows,
  nodeRows,
  peopleRows,
  runRows,
  settingRows,
  tokenRows,
} from "./system/rows.js";
import { texts } from "./texts.js";

/** @typedef {import("./system/rows.js").Cell} Cell */

const words = texts.system;
const AUDIT_PAGE = 50;

/** @param {Cell} cell */
function cellOf(cell) {
  const content =
    typeof cell === "string"
      ? cell
      : element("a", { href: address(`runs/${encodeURIComponent(cell.run)}`) }, cell.run);
  return element("td", {}, content);
}

/** @param {HTMLElement} body @param {Cell[][]} rows */
function append(body, rows) {
  body.append(...rows.map((row) => element("tr", {}, ...row.map(cellOf))));
}

/**
 * @param {{title: string, head: readonly string[]}} words
 * @param {Cell[][]} rows
 * @returns {{section: HTMLElement, body: HTMLElement}}
 */
function sectionOf({ title, head }, rows) {
  const body = element("tbody", {});
  append(body, rows);
  const columns = element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)));
  const table = element("table", { "aria-label": title }, element("thead", {}, columns), body);
  const content = rows.length
    ? element("div", { className: "system-table", tabIndex: 0, role: "region", "aria-label": title }, table)
    : element("p", { className: "empty" }, words.none);
  return { section: element("section", {}, element("h2", {}, title), content), body };
}

/**
 * Only a cluster has nodes.
 *
 * @param {any[] | undefined} nodes
 * @returns {[{title: string, head: readonly string[]}, Cell[][]][]}
 */
function nodeTables(nodes) {
  return nodes ? [[words.nodes, nodeRows(nodes)]] : [];
}

/** @param {{records: any[], next_cursor: string | null}} first */
function auditSection(first) {
  const { section, body } = sectionOf(words.audit, auditRows(first.records));
  let cursor = first.next_cursor;
  const more = element("button", { type: "button", hidden: cursor === null }, words.more);
  more.addEventListener("click", () =>
    troubled(async () => {
      const query = new URLSearchParams({ limit: String(AUDIT_PAGE), cursor: cursor ?? "" });
      const next = await get(`api/v0/audit?${query}`);
      append(body, auditRows(next.records));
      cursor = next.next_cursor;
      more.hidden = cursor === null;
    }),
  );
  section.append(more);
  return section;
}

await troubled(async () => {
  const [report, { people }, { tokens }, { desktops }, audit] = await Promise.all([
    get("api/v0/system"),
    get("api/v0/people"),
    get("api/v0/tokens"),
    get("api/v0/desktops"),
    get(`api/v0/audit?limit=${AUDIT_PAGE}`),
  ]);
  setText(byId("version"), words.version(report.version));
  /** @type {[{title: string, head: readonly string[]}, Cell[][]][]} */
  const tables = [
    [words.people, peopleRows(people)],
    ...nodeTables(report.nodes),
    [words.desktops, desktopRows(desktops)],
    [words.errors, errorRows(report.errors)],
    [words.kinds, kindRows(report.disk_by_kind)],
    [words.runs, runRows(report.disk_by_run)],
    [words.links, tokenRows(tokens.filter(isShareLink))],
    [words.tokens, tokenRows(tokens.filter((/** @type {any} */ one) => !isShareLink(one)))],
    [words.secrets, report.secrets.map((/** @type {string} */ name) => [name])],
    [words.settings, settingRows(report.settings)],
  ];
  byId("sections").replaceChildren(...tables.map(([title, rows]) => sectionOf(title, rows).section), auditSection(audit));
});
