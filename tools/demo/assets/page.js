// Five 4x4 squares, one after another, then a form. Every press is reported with its screen point.
const SIZE = 4;
const LATE_MS = 700;
const middle = (length) => Math.floor(length / 2) - SIZE / 2;
const TARGETS = [
  { name: "top left", colour: "#e6194b", x: () => 0, y: () => 0 },
  { name: "top right", colour: "#3cb44b", x: (w) => w - SIZE, y: () => 0 },
  { name: "centre", colour: "#4363d8", x: middle, y: (_, h) => middle(h), late: true },
  { name: "bottom left", colour: "#f58231", x: () => 0, y: (_, h) => h - SIZE },
  { name: "bottom right", colour: "#911eb4", x: (w) => w - SIZE, y: (_, h) => h - SIZE },
];
const byId = (id) => document.getElementById(id);
let current = -1;
let square = null;
let misses = 0;

const report = (path, body) =>
  fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    keepalive: true,
  });

function show(target) {
  square = document.createElement("div");
  square.className = "target";
  square.style.left = `${target.x(innerWidth, innerHeight)}px`;
  square.style.top = `${target.y(innerWidth, innerHeight)}px`;
  square.style.background = target.colour;
  document.body.append(square);
}

// The square comes late, and something moves until it does: an early screenshot shows no square.
function showLate(target) {
  byId("bar").hidden = false;
  const began = performance.now();
  const draw = (now) => {
    const part = Math.min(1, (now - began) / LATE_MS);
    byId("fill").style.width = `${part * 100}%`;
    if (part < 1) {
      requestAnimationFrame(draw);
    } else {
      byId("bar").hidden = true;
      show(target);
    }
  };
  requestAnimationFrame(draw);
}

function next() {
  current += 1;
  const target = TARGETS[current];
  if (!target) {
    byId("task").textContent = "All five. Now the form";
    byId("form").hidden = false;
    return;
  }
  byId("task").textContent = `Square ${current + 1} of ${TARGETS.length}: ${target.name}`;
  if (target.late) {
    showLate(target);
  } else {
    show(target);
  }
}

addEventListener(
  "pointerdown",
  (event) => {
    const hunting = current < TARGETS.length;
    const hit = hunting && square !== null && event.target === square;
    report("clicks", {
      x: event.screenX,
      y: event.screenY,
      target: hunting ? TARGETS[current].name : null,
      hit,
    });
    if (!hunting) {
      return;
    }
    if (hit) {
      square.remove();
      square = null;
      const item = document.createElement("li");
      item.textContent = TARGETS[current].name;
      byId("found").append(item);
      next();
    } else {
      misses += 1;
    }
    byId("hits").textContent = `${byId("found").children.length} hit, ${misses} missed`;
  },
  true,
);

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const answer = { name: byId("name").value, comment: byId("comment").value };
  report("form", answer);
  byId("form").hidden = true;
  byId("task").textContent = "Done";
  byId("thanks").textContent = `${answer.name} wrote: ${answer.comment}`;
  byId("done").hidden = false;
});

next();
