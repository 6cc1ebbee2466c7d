// npm run client:types
//
// Writes clients/typescript/src/schema.ts: the types of docs/openapi.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTypes, { astToString } from 'openapi-typescript';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const document = JSON.parse(readFileSync(join(root, 'docs', 'openapi.json'), 'utf8'));
const [, , target = join(root, 'clients', 'typescript', 'src', 'schema.ts')] = process.argv;

const types = astToString(await openapiTypes(document));
writeFileSync(target, `// Made of docs/openapi.json by npm run openapi; never edited.\n${types}`);
