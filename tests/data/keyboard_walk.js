// Which controls of a page the keyboard has reached. Installed as `keyboardWalk` before a page loads.
window.keyboardWalk = (() => {
  const CONTROLS =
    "a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=tab], [role=slider]";
  const reached = new Set();
  const names = new Set();
  const unmarked = new Set();

  function isUsable(control) {
    if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    if (control.matches(":disabled, [type=hidden], [inert] *")) return false;
    const { width, height } = control.getBoundingClientRect();
    return width > 0 && height > 0;
  }

  function named(control) {
    const text = control.getAttribute("aria-label") || control.name || control.textContent.trim();
    return `${control.tagName.toLowerCase()}#${control.id}.${control.className} "${text.slice(0, 40)}"`;
  }

  function isMarked(control) {
    const { outlineStyle, outlineWidth } = getComputedStyle(control);
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  }

  // The mark may be around the form of a field, as with the box for a task.
  function showsFocus(control) {
    return isMarked(control) || (control.form !== undefined && control.form !== null && isMarked(control.form));
  }

  function focused() {
    let control = document.activeElement;
    while (control?.shadowRoot?.activeElement) control = control.shadowRoot.activeElement;
    return control === document.body ? null : control;
  }

  return {
    // Have the next Tab begin at the top, wherever the last click was.
    begin() {
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
    },
    focused: () => named(focused() ?? document.body),
    // Note the control that has the focus; return "new", "known", or "around" after the last one.
    note() {
      const control = focused();
      const [first] = reached;
      if (!control || (control === first && reached.size > 1)) return "around";
      // By name: a list that is drawn anew while the focus is in it has other elements.
      const isNew = !names.has(named(control));
      reached.add(control);
      names.add(named(control));
      const frames = ["IFRAME", "VIDEO", "CANVAS"];
      if (!showsFocus(control) && !frames.includes(control.tagName)) unmarked.add(control);
      return isNew ? "new" : "known";
    },
    last: () => named([...reached].at(-1) ?? document.body),
    // Give the focus to the n-th control that is in a group with arrow keys; false after the last.
    enterGroup(n) {
      const groups = "[role=tablist], [role=listbox], [role=toolbar], [role=radiogroup], ol, ul, fieldset";
      const stops = [...reached].filter((one) => !one.isConnected || one.closest(groups));
      const again = [...document.querySelectorAll(CONTROLS)];
      const stop = stops[n]?.isConnected ? stops[n] : again.find((one) => stops[n] && named(one) === named(stops[n]));
      stop?.focus();
      return n < stops.length;
    },
    // Controls of the order of Tab, or of groups with arrow keys, to which the focus did not come.
    missed: (inGroups) =>
      [...document.querySelectorAll(CONTROLS)]
        .filter((one) => isUsable(one) && !reached.has(one) && !names.has(named(one)))
        .filter((one) => (inGroups ? one.tabIndex < 0 && one.role !== null : one.tabIndex >= 0))
        .map(named),
    unmarked: () => [...unmarked].map(named),
    count: () => document.querySelectorAll(CONTROLS).length,
  };
})();
