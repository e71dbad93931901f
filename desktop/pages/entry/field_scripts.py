"""Scripts that find a field of a page and put a text into it.

They run in an isolated world, so that a page cannot replace what they call; properties that an
element can hide by its name (DOM clobbering) are read by the getters of their prototypes.
"""

FOCUSED_FIELD = """(() => {
  const get = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).get;
  const root = get(Element.prototype, "shadowRoot");
  const active = get(ShadowRoot.prototype, "activeElement");
  if (!Document.prototype.hasFocus.call(document)) return null;
  let at = get(Document.prototype, "activeElement").call(document), inner = at;
  while (inner) {
    at = inner;
    inner = root.call(at) && active.call(root.call(at));
  }
  const outer = [HTMLIFrameElement, HTMLFrameElement, HTMLObjectElement, HTMLEmbedElement];
  return outer.some(kind => at instanceof kind) ? null : at;
})()"""
"""The element of a document with the keyboard; null if another document has it.

Of a closed shadow tree it is the host."""

HAS_FOCUS_IN_ROOT = """function () {
  const root = Node.prototype.getRootNode.call(this);
  const active = Object.getOwnPropertyDescriptor(ShadowRoot.prototype, "activeElement").get;
  return root instanceof ShadowRoot && active.call(root) === this;
}"""
"""Return whether an element has the keyboard in its shadow tree."""

PLACE = "function () { return [self.origin, self.location.href]; }"
"""Origin and address of the document of an element."""

ENTER = """function (text, origin, anyField) {
  const get = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).get;
  const attribute = (node, name) => Element.prototype.getAttribute.call(node, name) || "";
  const doc = get(Node.prototype, "ownerDocument").call(this);
  const root = Node.prototype.getRootNode.call(this);
  const active = () =>
    get(root === doc ? Document.prototype : ShadowRoot.prototype, "activeElement").call(root);
  const isInput = node => node instanceof HTMLInputElement;
  const line = ["text", "password", "email", "tel", "url", "number", "search"];
  const isLine = node => isInput(node) && line.includes(node.type);
  const isField = node => isLine(node) || node instanceof HTMLTextAreaElement;
  const purposes = ["username", "email", "tel", "current-password", "new-password",
    "one-time-code"];
  const elements = form => [...get(HTMLFormElement.prototype, "elements").call(form)];
  const isOfSignIn = node => {
    if (!isField(node)) return false;
    if (node.type === "password") return true;
    const tokens = attribute(node, "autocomplete").toLowerCase().split(/\\s+/);
    if (tokens.some(token => purposes.includes(token))) return true;
    const others = isLine(node) && node.form ? elements(node.form) : [];
    return others.some(one => isInput(one) && one.type === "password");
  };
  const isFit = () => anyField || isOfSignIn(this);
  const called = () => {
    const label = isField(this) && this.labels && this.labels[0];
    const texts = [label ? label.textContent : "", attribute(this, "aria-label"),
      attribute(this, "placeholder"), attribute(this, "name"), attribute(this, "id")];
    return (texts.find(one => one.trim()) || "").trim().replace(/\\s+/g, " ").slice(0, 80);
  };
  const isConnected = node => get(Node.prototype, "isConnected").call(node);
  const content = node => (isField(node) ? node.value : node.textContent);

  if (self.origin !== origin) return { state: "moved" };
  if (!isConnected(this)) return { state: "moved" };
  if (!isFit()) return { state: "unfit", field: called() };
  const isEditable = isField(this) ? !this.readOnly && !this.disabled : this.isContentEditable;
  if (text === null || !isEditable) return { state: "keys" };

  const MASK = "-webkit-text-security";
  const masked = node => {
    const style = node.style;
    style.setProperty(MASK, "disc", "important");
    const emptied = () => {
      if (content(node)) return;
      style.removeProperty(MASK);
      node.removeEventListener("input", emptied);
    };
    node.addEventListener("input", emptied);
  };
  const put = (node, part) => {
    if (active() !== node) HTMLElement.prototype.focus.call(node);
    // The handlers of the page have run meanwhile.
    if (active() !== node || !isConnected(node) || !isFit()) return "moved";
    masked(node);
    const before = content(node);
    const done = Document.prototype.execCommand.call(doc, "insertText", false, part);
    if (done) return "entered";
    return content(node) === before ? "keys" : "moved";
  };

  const parts = [...text];
  if (isLine(this) && this.maxLength === 1 && parts.length > 1) {
    const scope = this.form || root;
    const inputs = scope === root ? [...scope.querySelectorAll("input")] : elements(scope);
    const boxes = inputs.filter(one => isLine(one) && one.maxLength === 1 && !one.disabled);
    const own = boxes.slice(boxes.indexOf(this)).slice(0, parts.length);
    if (own.length < parts.length) return { state: "short" };
    for (const [at, box] of own.entries()) {
      if (active() !== box) HTMLElement.prototype.focus.call(box);
      box.select();
      const state = put(box, parts[at]);
      if (state !== "entered") return { state: "moved" };
    }
    return { state: "entered" };
  }
  if (isField(this) && this.maxLength >= 0) {
    const start = this.selectionStart, end = this.selectionEnd;
    const kept = start === null ? 0 : this.value.length - (end - start);
    if (kept + text.length > this.maxLength) return { state: "short" };
  }
  return { state: put(this, text) };
}"""
"""Put a text into an element, if it is one of a sign-in; ``text`` is null to check that only.

The check, the focus and the text are one task of the page: no other program and no other document
runs in between, and handlers of the page run before the last check or after the text. The field
shows bullets until it is emptied. The result has a ``state``:

- ``entered``
- ``keys``: the element may get the text, but takes it by keys only; nothing was entered
- ``unfit``: it is no field of a sign-in; it has the name ``field``
- ``short``: it is too short for the text; nothing was entered
- ``moved``: the document or the focus has changed; a part may have been entered
"""
