// node scripts/write-configuration-schema.mjs [TARGET]
//
// Writes the JSON Schema of files of configuration (`cds export`, `cds apply`): the bodies of docs/openapi.json, with the fields
// that the routes have in their paths. Editors read it; the command itself checks files by the code of the routes.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { components } = JSON.parse(readFileSync(join(root, 'docs', 'openapi.json'), 'utf8'));
const published = join(root, 'src', 'cli', 'configuration', 'configuration.schema.json');
const [, , target = published] = process.argv;

const definitions = {};

/** A schema of the OpenAPI document as JSON Schema, closed: no object takes a field that is not declared. */
function converted(value) {
  if (Array.isArray(value)) return value.map(converted);
  if (typeof value !== 'object' || value === null) return value;
  if (typeof value.$ref === 'string') return referenced(value.$ref);
  const { example, nullable, ...schema } = value;
  const parts = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, name === 'properties' ? mapped(part) : converted(part)]),
  );
  if (parts.properties !== undefined && parts.additionalProperties === undefined) parts.additionalProperties = false;
  if (nullable === true) parts.type = [parts.type, 'null'];
  return example === undefined ? parts : { ...parts, examples: [example] };
}

function mapped(properties) {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, converted(schema)]));
}

function referenced(reference) {
  const name = reference.replace('#/components/schemas/', '');
  if (definitions[name] === undefined) {
    definitions[name] = {};
    definitions[name] = converted(components.schemas[name]);
  }
  return { $ref: `#/$defs/${name}` };
}

/** The body of a route as an entry of a file. */
function entry(name, { without = [], fields = {}, required = [] } = {}) {
  const schema = converted(components.schemas[name]);
  const kept = Object.entries(schema.properties).filter(([field]) => !without.includes(field));
  return {
    type: 'object',
    properties: { ...fields, ...Object.fromEntries(kept) },
    required: [...required, ...(schema.required ?? [])],
    additionalProperties: false,
  };
}

const { pattern } = components.schemas.DefineReactionDto.properties.name;
const campaign = {
  fields: { campaignId: { type: 'string', pattern, description: 'The campaign.', examples: ['spring-sale'] } },
  required: ['campaignId'],
};

const list = (description, items) => ({ type: ['array', 'null'], description, items });

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Configuration of a workspace of the Campaign Data Service',
  type: 'object',
  properties: {
    version: { const: 1, description: 'The version of the format.' },
    eventTypes: list(
      'Event types of the CDP family.',
      entry('RegisterEventTypeDto', {
        without: ['force'],
        fields: { deprecated: { const: true, description: 'Deprecated for good. Its events are still accepted.' } },
      }),
    ),
    variables: list('Variables of campaigns.', entry('DefineVariableDto', campaign)),
    reactions: list('Reactions of campaigns.', entry('DefineReactionDto', campaign)),
    webhooks: list(
      'Endpoints of webhooks, by URL. Endpoints with one URL are matched in the order of their creation.',
      entry('CreateWebhookDto', {
        fields: { enabled: { type: 'boolean', description: 'False: events are kept and not sent. True when absent.' } },
      }),
    ),
    issuers: list(
      'Issuers of the tokens of participants, by issuer and audience.',
      entry('CreateJwtIssuerDto', {
        without: ['secret'],
        fields: {
          keySource: {
            const: 'secret',
            description:
              'The issuer shares a secret, which is in no file. Register it by cds issuers create --secret-file.',
          },
        },
      }),
    ),
    retention: { ...entry('ChangeRetentionDto'), type: ['object', 'null'], description: 'How long events are kept.' },
  },
  required: ['version'],
  additionalProperties: false,
  $defs: definitions,
};

const options = { ...(await resolveConfig(published)), filepath: published };
writeFileSync(target, await format(JSON.stringify(schema), options));
