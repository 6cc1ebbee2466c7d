import { Injectable, type Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type BodyValidator, compileBodyValidator } from './body-validator';
import { isReference, type Reference, resolveSchema, type SchemaObject } from '../openapi/open-api-schema';
import { writeRules } from './written-rules';

type Schemas = Readonly<Record<string, SchemaObject | Reference>>;

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

/** Notes at import time that a route takes this body, so that its validator is compiled at start. */
export function expectBody(plan: BodyPlan): void {
  const known = plans.get(plan.dto);
  if (known !== undefined && known.batchOf !== plan.batchOf) {
    throw new Error(`${plan.dto.name} is taken as a batch by one route and whole by another.`);
  }
  plans.set(plan.dto, { ...plan, checked: plan.checked || known?.checked === true });
}

/** The validator of each body, compiled from the DTO's schema in the OpenAPI document: what is documented is what is checked. */
@Injectable()
export class BodyValidators {
  private schemas: Schemas = {};
  private readonly compiled = new Map<Type, BodyValidator<object>>();

  /**
   * Completes the document's schemas by the DTOs' class-validator rules and the configured size of a batch, and compiles the
   * bodies that routes have checked, so that a rule which cannot be enforced stops the start, not a request.
   */
  setDocument(document: OpenAPIObject, limits: BatchLimits = {}): void {
    this.schemas = document.components?.schemas ?? {};
    this.compiled.clear();
    const documented = [...plans.values()].filter(({ dto }) => this.schemas[dto.name] !== undefined);
    for (const plan of documented) {
      writeRules(plan.dto, this.schemas);
      if (plan.batchOf !== undefined) this.limitBatch(plan.dto, plan.batchOf, limits);
    }
    for (const { dto } of documented.filter(({ checked }) => checked)) this.for(dto);
  }

  /** Also for a DTO that is only an entry of a batch. Throws when the document does not contain it. */
  for<T extends object>(dto: Type<T>): BodyValidator<T> {
    const known = this.compiled.get(dto);
    if (known !== undefined) return known as BodyValidator<T>;
    const schema = this.schemas[dto.name];
    if (schema === undefined) throw new Error(`${dto.name} is not in the OpenAPI document; see @ApiExtraModels.`);
    writeRules(dto, this.schemas);
    const validator = compileBodyValidator<T>(this.withoutEntries(schema, dto), this.schemas, dto.name);
    this.compiled.set(dto, validator);
    return validator;
  }

  private limitBatch(dto: Type, field: string, { batchItemsMax }: BatchLimits): void {
    const list = this.batchList(dto, field);
    if (batchItemsMax !== undefined) list.maxItems = batchItemsMax;
  }

  private withoutEntries(schema: SchemaObject | Reference, dto: Type): SchemaObject | Reference {
    const field = plans.get(dto)?.batchOf;
    if (field === undefined || isReference(schema)) return schema;
    const list = { ...this.batchList(dto, field), items: {} };
    return { ...schema, properties: { ...schema.properties, [field]: list } };
  }

  private batchList(dto: Type, field: string): SchemaObject {
    const list = resolveSchema({ $ref: dto.name }, this.schemas)?.properties?.[field];
    if (list === undefined || isReference(list)) throw new Error(`${dto.name}.${field} is not a list.`);
    return list;
  }
}
