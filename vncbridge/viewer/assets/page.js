// The desktop service's own page: nothing but the viewer.
import { Viewer } from "./viewer.js";

const host = document.querySelector("main[data-vnc]");
new Viewer(host, { stream: host.dataset.vnc, status: host.dataset.status }).connect();
