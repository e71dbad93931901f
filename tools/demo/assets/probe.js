// Reports the screen point of every press, wherever it lands.
addEventListener(
  "pointerdown",
  (event) =>
    fetch("clicks", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ x: event.screenX, y: event.screenY, target: null, hit: false }),
      keepalive: true,
    }),
  true,
);
fetch("ready", { method: "POST" });
