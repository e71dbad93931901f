/**
 * The page on which people try requests: the OpenAPI document of this control plane, shown by
 * Swagger UI. The browser's sign-in authorizes the requests.
 */

/**
 * @typedef {object} Options
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

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#operations",
  // The validator of the library is a service of another site.
  validatorUrl: null,
  deepLinking: false,
  filter: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
});
