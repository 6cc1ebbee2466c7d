// For swagger-typescript-api: npx swagger-typescript-api generate -p openapi.json --custom-config swagger-typescript-api.config.mjs
//
// It takes every colon in a path for the beginning of a parameter. The verbs of this API end their paths
// (`/v1/external-events:batch`), and the service takes `%3A` for a colon (RFC 3986), so the generated code sends that.
export default {
  hooks: { onPreBuildRoutePath: (path) => path.replace(/:([\w-]+)$/, '%3A$1') },
};
