// What the pages of the flows share. The server asks for `flow.js?changed` to move, rename and
// restyle the target of a flow.
const byId = (id) => document.getElementById(id);
const value = (id) => byId(id).value;
const on = (id, act) => byId(id).addEventListener("click", act);
const done = (text) => { byId("result").textContent = text; };
const changed = new URL(document.currentScript.src).searchParams.has("changed");
if (changed) {
  document.documentElement.classList.add("changed");
  addEventListener("DOMContentLoaded", () => {
    const target = byId("t");
    if (target) target.firstChild.textContent = target.dataset.new;
  });
}
