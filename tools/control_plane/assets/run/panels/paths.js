// Paths of a desktop's files. Pure.

/**
 * The folders above a path and the path itself, each with its name: the root first. The working
 * directory stands for all folders above it.
 *
 * @param {string} path
 * @param {string} working  the working directory
 * @param {string} label  its name
 * @returns {{name: string, path: string}[]}
 */
export function crumbsOf(path, working, label) {
  const parts = path.split("/").filter(Boolean);
  const crumbs = parts.map((name, at) => ({ name, path: `/${parts.slice(0, at + 1).join("/")}` }));
  const at = crumbs.findIndex((crumb) => crumb.path === working);
  const root = { name: "/", path: "/" };
  return at < 0 ? [root, ...crumbs] : [root, { name: label, path: working }, ...crumbs.slice(at + 1)];
}

/** @param {string} path */
export function folderOf(path) {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

/** @param {string} path */
export function nameOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * An absolute path for one that may be relative to `folder`.
 *
 * @param {string} path
 * @param {string} folder
 */
export function absolutePath(path, folder) {
  return path.startsWith("/") ? path : `${folder === "/" ? "" : folder}/${path.replace(/^(\.\/)+/, "")}`;
}

/**
 * The stored file that is a copy of a file which a step names, if there is one.
 *
 * @template {{kind: string, metadata?: {path?: string}}} File
 * @param {readonly File[]} files  of the run
 * @param {string} path  as the step has it
 * @returns {File | null}
 */
export function storedCopy(files, path) {
  const ending = path.startsWith("/") ? path : `/${path.replace(/^(\.\/)+/, "")}`;
  const copies = files.filter(({ kind, metadata }) => kind === "attachment" && metadata?.path?.endsWith(ending));
  return copies.at(-1) ?? null;
}
