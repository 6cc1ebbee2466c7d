import type { ErrorCode } from '../../errors/error-codes';
import type { Fault } from '../../errors/fault';
import type { DocumentedHeader } from './openapi-headers';

/** What the OpenAPI document says about one application. The platform only knows where each text belongs. */
export interface DocumentTexts {
  readonly title: string;
  readonly description: string;
  /** Tags of operations with their descriptions, in the order in which the documentation shows them. */
  readonly tags: Readonly<Record<string, string>>;
  /** Examples for fields and path parameters of these names. The example of a DTO's own field comes first. */
  readonly examplesByName: Readonly<Record<string, unknown>>;
  /** The fault that the example of a refusal with this code shows. */
  readonly faults: Readonly<Partial<Record<ErrorCode, Fault>>>;
  /** The `path` that the example of a refusal with this code shows. */
  readonly statePaths: Readonly<Partial<Record<ErrorCode, string>>>;
  /** Headers of answers that only some routes have. */
  readonly headers: Readonly<Record<string, DocumentedHeader>>;
}

/** For an application that documents nothing beyond its routes. */
export const NO_TEXTS: DocumentTexts = {
  title: 'API',
  description: '',
  tags: {},
  examplesByName: {},
  faults: {},
  statePaths: {},
  headers: {},
};
