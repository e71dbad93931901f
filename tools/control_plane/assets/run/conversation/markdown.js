// Markdown of agents and people as elements. This module owns the two vendored libraries.
//
// Two barriers, each of which is enough: the renderer writes HTML of the text as text and pictures as
// their names, and the sanitiser keeps only the elements and attributes that are listed here.
import DOMPurify from "../../vendor/dompurify/purify.es.js";
import { Marked } from "../../vendor/marked/marked.esm.js";

const TAGS = [
  ...["a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"],
  ...["strong", "table", "tbody", "td", "th", "thead", "tr", "ul"],
];
const ATTRIBUTES = ["href", "start", "title"];
const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => escaped(text ? `${text} (${href})` : href),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** @param {string} text @returns {DocumentFragment} */
export function markdown(text) {
  const clean = DOMPurify.sanitize(/** @type {string} */ (marked.parse(text)), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOWED_URI_REGEXP: SAFE_LINK,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of clean.querySelectorAll("a")) {
    if (link.hasAttribute("href")) {
      link.target = "_blank";
      // The address of a run is not for other sites.
      link.rel = "noopener noreferrer nofollow";
    }
  }
  for (const block of clean.querySelectorAll("pre, table")) {
    block.setAttribute("tabindex", "0");
  }
  return clean;
}
