/**
 * The page on which people try requests: the OpenAPI document of this control plane, shown by
 * Swagger UI. The browser's sign-in authorizes the requests.
 */

import { keyHeader } from "../viewer/page_key.js";

/**
 * @typedef {object} Options
 * @property {typeof keyed} requestInterceptor
 * @property {string} url
 * @property {string} dom_id
 * @property {null} validatorUrl
 * @property {boolean} deepLinking
 * @property {boolean} filter
 * @property {string} docExpansion
 * @property {number} defaultModelsExpandDepth
 */
const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle: (options: Options) => void }} */ (
  /** @type {unknown} */ (window)
);

/** @param {{headers: Record<string, string>}} request */
function keyed(request) {
  Object.assign(request.headers, keyHeader());
  return request;
}

SwaggerUIBundle({
  requestInterceptor: keyed,
  url: "openapi.json",
  dom_id: "#operations",
  // The validator of the library is a service of another site.
  validatorUrl: null,
  deepLinking: false,
  filter: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
});
