// The OpenAPI document that /docs-json serves with default settings. It needs what tsc has built and no database: the
// application is made in Nest's preview mode, which looks at modules and routes and starts nothing.
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import { AppModule } from '../dist/src/app.module.js';
import metadata from '../dist/src/metadata.js';
import { readSettings } from '../dist/src/platform/config/env.js';
import { completeSchemas } from '../dist/src/platform/http/body/body-validators.js';
import { ApiExpressAdapter } from '../dist/src/platform/http/server/express-adapter.js';
import { openApiDocument } from '../dist/src/platform/http/openapi/openapi.js';
import { apiDocumentTexts } from '../dist/src/server/api-document.js';

export async function apiDocument() {
  const settings = readSettings({});
  const nowhere = { url: 'postgresql://localhost/' };
  const app = await NestFactory.create(AppModule.with(settings, nowhere), new ApiExpressAdapter(), {
    preview: true,
    abortOnError: false,
    logger: ['error'],
  });
  await SwaggerModule.loadPluginMetadata(metadata.default);
  const document = openApiDocument(app, apiDocumentTexts(settings));
  // The service completes the document's schemas by what it checks bodies with.
  completeSchemas(document.components.schemas, settings);
  await app.close();
  return document;
}
