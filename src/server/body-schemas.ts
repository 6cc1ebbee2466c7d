import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schemas } from '../platform/http/body/body-validators';

/** What the build writes beside the bundle (`scripts/write-body-schemas.mjs`). */
const FILE = join(__dirname, 'body-schemas.json');

/**
 * The schemas of bodies that the build has taken from the OpenAPI document, so that a start need not describe 150 routes. They
 * do not depend on settings. Undefined for modules outside the bundle, which use the document itself.
 */
export function builtBodySchemas(): (() => Schemas) | undefined {
  return existsSync(FILE) ? () => JSON.parse(readFileSync(FILE, 'utf8')) as Schemas : undefined;
}
