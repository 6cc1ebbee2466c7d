import type { Settings } from '../platform/config/settings';
import type { DocumentTexts } from '../platform/http/openapi/document-texts';
import { textHeader } from '../platform/http/openapi/openapi-headers';

const AN_ID = '0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04';

/** What the OpenAPI document says about this service. A feature with routes adds its tag and its examples here. */
export function apiDocumentTexts(settings: Settings): DocumentTexts {
  return {
    title: 'Campaign Data Service',
    description: description(settings),
    tags: TAGS,
    examplesByName: EXAMPLES_BY_NAME,
    faults: FAULTS,
    statePaths: { system_field: 'state.user.sessionId', undeclared_variable: 'state.user.pionts' },
    headers: HEADERS,
  };
}

function description({ batchItemsMax, batchBytesMax, bodyBytesMax, propertiesBytesMax }: Settings): string {
  return [
    'Takes customer events exactly once, knows whose they are, and lets campaigns react to them.',
    '',
    'Limits: ' +
      `a batch has at most ${batchItemsMax} items and ${batchBytesMax} bytes, any other body ${bodyBytesMax} bytes, ` +
      `\`attributes\` and \`properties\` of one event ${propertiesBytesMax} bytes. ` +
      'Bodies may be sent with `Content-Encoding: gzip`; the limits hold after inflation, ' +
      'and a body inflates to a hundred times its size at most. JSON nests 64 levels at most. ' +
      'Rate limits charge each 16 KiB of a body like an event. An answer lists at most 1,000 faults.',
  ].join('\n');
}

/** Groups of operations, in the order in which the documentation shows them. */
const TAGS: DocumentTexts['tags'] = {
  Ingest: 'Sending events, each of which takes effect once, however often it is sent.',
  Events: 'Reading accepted events.',
  Statistics: 'How many events came, and what became of them.',
  Processing: 'The progress of accepted events.',
  Retention: 'How long events are kept.',
  Review: 'Refused and conspicuous events, and what became of them.',
  'Event types': 'The schemas of events of the CDP family.',
  Profiles: 'The customers that events belong to, with export and erasure.',
  Variables: 'The values that campaigns may store.',
  Reactions: 'What campaigns do when an event arrives.',
  Webhooks: 'Endpoints that events are sent to, by signed calls.',
  Runtime: 'Reading and changing stored values, by participants and on their behalf.',
  'API keys': 'Credentials of backends.',
  'JWT issuers': 'The issuers of participant tokens.',
  'Service credentials': 'Keys that backends sign requests with.',
  'Audit log': 'Who did what in the workspace.',
  Operation: 'Health and metrics of the service.',
};

/** Fields and path parameters with the same meaning in every body. */
const EXAMPLES_BY_NAME: DocumentTexts['examplesByName'] = {
  campaign_id: 'spring-sale',
  eventType: 'purchase',
  event_id: AN_ID,
  externalEventId: 'order-4711',
  mergedFrom: [],
  message: 'identity.type is required.',
  name: 'points',
  original_event_id: AN_ID,
  reason: 'required',
  source: 'shop.orders',
  sub: 'customer-0001',
};

/** One fault for the example of each refusal that names fields. */
const FAULTS: DocumentTexts['faults'] = {
  validation_failed: { path: 'identity.type', code: 'required', message: 'identity.type is required.' },
  system_field: { path: 'ops[0].path', code: 'system_field', message: 'ops[0].path names a field of the system.' },
  undeclared_variable: {
    path: 'ops[0].path',
    code: 'undeclared_variable',
    message: 'ops[0].path names no declared variable.',
  },
  incompatible_event_type: {
    path: 'properties.amount',
    code: 'property_type_changed',
    message: 'properties.amount changes its type.',
  },
  batch_too_large: { path: 'items', code: 'too_many_items', message: 'items has more than 1000 entries.' },
  campaign_required: { path: 'campaign_id', code: 'required', message: 'campaign_id is required.' },
  context_violation: {
    path: 'campaign_id',
    code: 'context_violation',
    message: 'campaign_id names another campaign than the token is for.',
  },
};

const HEADERS: DocumentTexts['headers'] = {
  'Mutation-Payload-Mismatch': textHeader(
    '`true` when the `mutation_id` was used before, with other operations; the answer is that of the original.',
    'true',
  ),
};
