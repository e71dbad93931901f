// The desktop service's own page: nothing but the viewer.
import { Viewer } from "./viewer.js";
import { wishes } from "./wishes.js";

const host = /** @type {HTMLElement} */ (document.querySelector("main[data-vnc]"));
const addresses = { stream: host.dataset.vnc ?? "", status: host.dataset.status ?? "" };
new Viewer(host, addresses, wishes(location.search)).connect();
