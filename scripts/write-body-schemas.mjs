// node scripts/write-body-schemas.mjs: a step of the build, after tsc.
//
// Writes the schemas of bodies into dist/, from where the service reads them (src/server/body-schemas.ts). A rule that the
// service could not enforce ends the build.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BodyValidators } from '../dist/src/platform/http/body/body-validators.js';
import { apiDocument } from './api-document.mjs';

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'body-schemas.json');
const { schemas } = (await apiDocument()).components;
const validators = new BodyValidators();
validators.setSchemas(() => schemas);
validators.compileAll();
writeFileSync(target, JSON.stringify(schemas));
