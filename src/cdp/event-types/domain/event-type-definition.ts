export const PROPERTY_TYPES = ['string', 'number', 'integer', 'boolean', 'timestamp', 'object', 'array'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** Formats whose check takes time in proportion to the text; a spec measures each of them. */
export const PROPERTY_FORMATS = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const;
export type PropertyFormat = (typeof PROPERTY_FORMATS)[number];

export interface PropertyDefinition {
  readonly type: PropertyType;
  readonly required?: boolean;
  /** For string, number and integer only. The values are of that type; no value occurs twice. */
  readonly enum?: readonly (string | number)[];
  /** For string only. */
  readonly format?: PropertyFormat;
  readonly description?: string;
  readonly segmentable?: boolean;
  /** Views mask the value (contract section 6). */
  readonly pii?: boolean;
}

export const ADDITIONAL_PROPERTIES = ['reject', 'allow'] as const;

/** What the events of one type must look like (contract section 4). A version never changes. */
export interface EventTypeDefinition {
  readonly eventType: string;
  readonly description?: string;
  /** Has no prototype, so that `__proto__` and `constructor` are names like any other. Read own entries only. */
  readonly properties: Readonly<Record<string, PropertyDefinition>>;
  readonly additionalProperties: (typeof ADDITIONAL_PROPERTIES)[number];
}

/**
 * The limits of a definition. The parser enforces them and the OpenAPI document shows them (`RegisterEventTypeDto`).
 * Characters are Unicode code points.
 */
export const DEFINITION_LIMITS = {
  /** An event has at most 300 keys (contract section 3), so further properties could never be used. */
  propertiesMax: 300,
  propertyNameCharactersMax: 128,
  descriptionCharactersMax: 1_000,
  /** A longer list is master data: use a string property without `enum`. */
  enumValuesMax: 100,
  enumValueCharactersMax: 256,
} as const;

/** The fields of a definition, as a client sends them. */
export const DEFINITION_FIELDS: ReadonlySet<string> = new Set(
  Object.keys({
    eventType: true,
    description: true,
    properties: true,
    additionalProperties: true,
  } satisfies Record<keyof EventTypeDefinition, true>),
);

/** The fields of a property, as a client sends them. */
export const PROPERTY_FIELDS: ReadonlySet<string> = new Set(
  Object.keys({
    type: true,
    required: true,
    enum: true,
    format: true,
    description: true,
    segmentable: true,
    pii: true,
  } satisfies Record<keyof PropertyDefinition, true>),
);

/** Limits the answer to a hostile definition or event. */
export const CONTRACT_FAULTS_MAX = 100;

/** The names of the properties that a definition declares `pii: true`. */
export function personalPropertiesOf({ properties }: EventTypeDefinition): string[] {
  return Object.entries(properties).flatMap(([name, { pii }]) => (pii === true ? [name] : []));
}
