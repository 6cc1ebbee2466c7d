// npm run openapi
//
// Writes docs/openapi.json: the document that /docs-json serves with default settings. It needs a build and no database.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { apiDocument } from './api-document.mjs';

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'openapi.json');
const options = { ...(await resolveConfig(target)), filepath: target };
writeFileSync(target, await format(JSON.stringify(await apiDocument()), options));
