/** Under this a route keeps the scope that it asks for. */
export const REQUIRED_SCOPE = 'required scope';

/** The name of the API-key security scheme in the OpenAPI document. */
export const API_KEY_SECURITY = 'apiKey';

/** The name of the passport strategy that verifies API keys. */
export const API_KEY_STRATEGY = 'api-key';
