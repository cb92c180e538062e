// Beside the page, because its content security policy allows no script inside of it.
// The address is relative: a proxy may serve us under a path of its own.
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  // The default asks a public server what it thinks of the description.
  validatorUrl: null,
});
