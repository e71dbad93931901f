"""Scripts that run in a page, apart from its own ones (isolated world), where nothing is said."""

WINDOW = """({
  x: window.screenX, y: window.screenY,
  outer_width: window.outerWidth, outer_height: window.outerHeight,
  width: window.innerWidth, height: window.innerHeight,
  ratio: window.devicePixelRatio,
})"""
"""Facts for `viewport_of`, without the zoom."""

VISIBLE = "document.visibilityState"

FOCUSED = 'document.visibilityState === "visible" && document.hasFocus()'

PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

SHOWN = """new Promise(done => {
  const painted = () => requestAnimationFrame(() => requestAnimationFrame(done));
  setTimeout(done, 700);
  if (document.hasFocus()) painted();
  else addEventListener("focus", painted, { once: true });
})"""
"""Wait until the page has the keyboard and is painted, for a while."""

FILL = """function (value) {
  const fire = (...kinds) => kinds.forEach(
    kind => this.dispatchEvent(new Event(kind, { bubbles: true, composed: true })));
  const text = String(value), tag = this.localName, type = (this.type || "").toLowerCase();
  if (this.matches(":disabled")) return { error: "it is disabled" };
  if (tag === "select") {
    const options = [...this.options];
    const same = one =>
      [one.value, one.label, one.text].some(known => known.trim() === text.trim());
    const alike = one => one.text.trim().toLowerCase() === text.trim().toLowerCase();
    const option = options.find(same) || options.find(alike);
    if (!option)
      return { error: "it has no such option; there are " +
        options.slice(0, 50).map(one => JSON.stringify(one.text.trim())).join(", ") };
    this.focus();
    if (this.multiple) option.selected = value !== false;
    else this.value = option.value;
    fire("input", "change");
    return { done: option.text.trim() };
  }
  const role = this.getAttribute("role");
  if (type === "checkbox" || type === "radio" || role === "checkbox" || role === "switch") {
    const wanted = typeof value === "boolean" ? value : !["false", "off", "no", "0", ""].includes(
      text.toLowerCase());
    const checked = tag === "input" ? this.checked : this.getAttribute("aria-checked") === "true";
    if (type === "radio" && !wanted) return { error: "a radio button is not switched off" };
    if (checked !== wanted) this.click();
    return { done: wanted ? "on" : "off" };
  }
  if (tag === "input" && type === "file") return { error: "use file_upload for it" };
  if (tag === "input" || tag === "textarea") {
    if (this.readOnly) return { error: "it is read-only" };
    this.focus();
    this.value = text;
    if (text && this.value === "")
      return { error: `its type ${type} does not accept ${JSON.stringify(text)}` };
    fire("input", "change");
    return { done: type === "password" ? "" : this.value, secret: type === "password" };
  }
  if (this.isContentEditable) {
    this.focus();
    const range = document.createRange();
    range.selectNodeContents(this);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("insertText", false, text);
    return { done: text };
  }
  return { error: `it is no form element (${tag})` };
}"""
"""Set the value of a form element, with the events that a person's input would cause."""

EVALUATE = """(async (code, most) => {
  const text = value => {
    if (value === undefined) return "undefined";
    if (typeof value === "string") return value;
    if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function")
      return String(value);
    if (value instanceof Element) return value.outerHTML;
    if (value instanceof Error) return String(value);
    try {
      const json = JSON.stringify(value);
      return json === undefined ? String(value) : json;
    } catch (error) { return String(value); }
  };
  const found = text(await (0, eval)(code));
  return found.length > most ? found.slice(0, most) + `… [cut at ${most} characters]` : found;
})"""
"""Run the code of a model as the page, and return its value as a bounded text."""
