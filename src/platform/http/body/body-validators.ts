import { Injectable, type Type } from '@nestjs/common';
import type { Fault } from '../../errors/fault';
import { validationFailed } from '../../errors/validation-failed';
import { isObject } from '../../values/json/json-values';
import { type BodyValidator, compileBodyValidator } from './body-validator';
import { isReference, type Reference, resolveSchema, type SchemaObject } from '../openapi/open-api-schema';
import { writeRules } from './written-rules';

/** The schemas of the OpenAPI document by their names. */
export type Schemas = Readonly<Record<string, SchemaObject | Reference>>;

/** How a route takes its body; a part of what `@JsonBody` says. */
export interface BodyPlan {
  readonly dto: Type<object>;
  /** False when the handler checks the shape itself. */
  readonly checked: boolean;
  /** The field of a batch envelope whose entries are left alone here, to be checked one by one. */
  readonly batchOf?: string;
}

export interface BatchLimits {
  readonly batchItemsMax?: number;
}

const plans = new Map<Type, BodyPlan>();

/** Notes at import time that a route takes this body, so that the document says what is enforced. */
export function expectBody(plan: BodyPlan): void {
  const known = plans.get(plan.dto);
  if (known !== undefined && known.batchOf !== plan.batchOf) {
    throw new Error(`${plan.dto.name} is taken as a batch by one route and whole by another.`);
  }
  plans.set(plan.dto, { ...plan, checked: plan.checked || known?.checked === true });
}

/** Completes the document's schemas by the DTOs' class-validator rules and the configured size of a batch. */
export function completeSchemas(schemas: Schemas, limits: BatchLimits = {}): void {
  for (const plan of documentedPlans(schemas)) writeRules(plan.dto, schemas);
  limitBatches(schemas, limits);
}

/**
 * The validator of each body, compiled from the DTO's schema in the OpenAPI document: what is documented is what is checked. A
 * schema is compiled when it is first needed, which takes a millisecond or two.
 */
@Injectable()
export class BodyValidators {
  private findSchemas: () => Schemas = () => ({});
  private known: Schemas | undefined;
  private readonly compiled = new Map<Type, BodyValidator<object>>();

  /** `findSchemas` returns the schemas of the document, with or without the rules of the DTOs. It is called once. */
  setSchemas(findSchemas: () => Schemas, limits: BatchLimits = {}): void {
    this.known = undefined;
    this.compiled.clear();
    this.findSchemas = () => {
      const schemas = findSchemas();
      limitBatches(schemas, limits);
      return schemas;
    };
  }

  /** Compiles all bodies that routes have checked. Throws for a rule that cannot be enforced. The build does this. */
  compileAll(): void {
    for (const { dto, checked } of documentedPlans(this.schemas())) if (checked) this.for(dto);
  }

  /** Also for a DTO that is only an entry of a batch. Throws when the document does not contain it. */
  for<T extends object>(dto: Type<T>): BodyValidator<T> {
    const known = this.compiled.get(dto);
    if (known !== undefined) return known as BodyValidator<T>;
    const schemas = this.schemas();
    const schema = schemas[dto.name];
    if (schema === undefined) throw new Error(`${dto.name} is not in the OpenAPI document; see @ApiExtraModels.`);
    writeRules(dto, schemas);
    const validator = compileBodyValidator<T>(withoutEntries(schema, dto, schemas), schemas, dto.name);
    this.compiled.set(dto, validator);
    return validator;
  }

  /**
   * Checks a body by its DTO, and by rules that a schema cannot express, and reports all faults together. A field with a wrong
   * shape is reported once. `ruleFaultsOf` gets any object: it ignores fields of another type. Throws `validation_failed`.
   */
  check<T extends object>(
    dto: Type<T>,
    body: unknown,
    ruleFaultsOf: (fields: Readonly<Record<string, unknown>>) => readonly Fault[],
  ): T {
    const { value, faults: shapeFaults = [] } = this.for<T>(dto)(body);
    const ruleFaults = isObject(body) ? ruleFaultsOf(body) : [];
    const faults = [
      ...shapeFaults,
      ...ruleFaults.filter(({ path }) => !shapeFaults.some((each) => each.path === path)),
    ];
    if (value === undefined || faults.length > 0) throw validationFailed(faults);
    return value;
  }

  private schemas(): Schemas {
    return (this.known ??= this.findSchemas());
  }
}

function documentedPlans(schemas: Schemas): readonly BodyPlan[] {
  return [...plans.values()].filter(({ dto }) => schemas[dto.name] !== undefined);
}

function limitBatches(schemas: Schemas, { batchItemsMax }: BatchLimits): void {
  if (batchItemsMax === undefined) return;
  for (const { dto, batchOf } of documentedPlans(schemas)) {
    if (batchOf !== undefined) batchList(dto, batchOf, schemas).maxItems = batchItemsMax;
  }
}

function withoutEntries(schema: SchemaObject | Reference, dto: Type, schemas: Schemas): SchemaObject | Reference {
  const field = plans.get(dto)?.batchOf;
  if (field === undefined || isReference(schema)) return schema;
  const list = { ...batchList(dto, field, schemas), items: {} };
  return { ...schema, properties: { ...schema.properties, [field]: list } };
}

function batchList(dto: Type, field: string, schemas: Schemas): SchemaObject {
  const list = resolveSchema({ $ref: dto.name }, schemas)?.properties?.[field];
  if (list === undefined || isReference(list)) throw new Error(`${dto.name}.${field} is not a list.`);
  return list;
}
