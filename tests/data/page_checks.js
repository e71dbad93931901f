// What of a page depends on the settings of a person. Installed as `pageChecks` before a page loads.
window.pageChecks = (() => {
  const named = (one) =>
    `${one.tagName.toLowerCase()}#${one.id}.${one.getAttribute("class") ?? ""} "${one.textContent.trim().slice(0, 40)}"`;
  const visible = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility({ visibilityProperty: true }));

  function looks(one) {
    const style = getComputedStyle(one);
    const parts = ["color", "backgroundColor", "borderTopColor", "borderBottomColor", "borderBottomWidth"];
    return [...parts, "outlineStyle", "textDecorationLine", "fontWeight"].map((part) => style[part]).join();
  }

  const isBeyond = (one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".unseen");

  return {
    // Elements that move by themselves for longer than a glimpse.
    moving: () =>
      visible("body *")
        .filter((one) => {
          const { animationName, animationDuration, transitionDuration } = getComputedStyle(one);
          const longest = (durations) => Math.max(...durations.split(", ").map(parseFloat));
          return (animationName !== "none" && longest(animationDuration) > 0.01) || longest(transitionDuration) > 0.01;
        })
        .map(named),
    // Selected, pressed and current controls that do not differ from the others beside them.
    alike: () =>
      visible("[aria-selected=true], [aria-pressed=true], [aria-current]:not([aria-current=false])")
        .filter((one) =>
          [...(one.parentElement?.children ?? [])].some(
            (other) => other !== one && other.role === one.role && other.tagName === one.tagName && looks(other) === looks(one)
          )
        )
        .map(named),
    // Text that is cut off in its control, and a page that is wider than its window.
    cut: () => [
      ...visible("button, a.as-button, summary, label:not(.unseen), th")
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
        .map(named),
      // A row of a list whose height is computed.
      ...visible(".steps li")
        .filter((row) => [...row.querySelectorAll("*")].some((one) => one.getBoundingClientRect().bottom > row.getBoundingClientRect().bottom + 1))
        .map(named),
      ...(document.documentElement.scrollWidth > innerWidth ? visible("body *").filter(isBeyond).map(named) : []),
    ],
  };
})();
