// npm run openapi
//
// Writes docs/openapi.json: the document that /docs-json serves with default settings. It needs a build and no database: the
// application is made in Nest's preview mode, which looks at modules and routes and starts nothing.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import { format, resolveConfig } from 'prettier';
import { AppModule } from '../dist/src/app.module.js';
import metadata from '../dist/src/metadata.js';
import { readSettings } from '../dist/src/platform/config/env.js';
import { BodyValidators } from '../dist/src/platform/http/body/body-validators.js';
import { ApiExpressAdapter } from '../dist/src/platform/http/server/express-adapter.js';
import { openApiDocument } from '../dist/src/platform/http/openapi/openapi.js';

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'openapi.json');
const settings = readSettings({});
const nowhere = { url: 'postgresql://localhost/' };

const app = await NestFactory.create(AppModule.with(settings, nowhere), new ApiExpressAdapter(), {
  preview: true,
  abortOnError: false,
  logger: ['error'],
});
await SwaggerModule.loadPluginMetadata(metadata.default);
const document = openApiDocument(app, settings);
// The service completes the document's schemas by what it checks bodies with.
new BodyValidators().setDocument(document, settings);
await app.close();

const options = { ...(await resolveConfig(target)), filepath: target };
writeFileSync(target, await format(JSON.stringify(document), options));
