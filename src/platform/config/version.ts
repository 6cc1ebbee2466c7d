/**
 * The version of the service, as `package.json` has it. The OpenAPI document, the typed client, the image's label and the
 * changelog say the same; a test holds them together.
 */
export const VERSION = '0.1.0';
