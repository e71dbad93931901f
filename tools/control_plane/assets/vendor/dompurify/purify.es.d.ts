// The part of the library that the pages use.
declare const DOMPurify: {
  sanitize(html: string, options: Record<string, unknown>): DocumentFragment;
};
export default DOMPurify;
