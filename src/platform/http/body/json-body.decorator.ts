import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Request } from 'express';
import { bodyReaderOf, type BodyUse } from './body-reader';
import { type BodyPlan, expectBody } from './body-validators';

export interface JsonBodyOptions extends BodyUse {
  /** False: the handler checks the shape itself, to name the faults of shape and meaning in one answer. */
  readonly checked?: boolean;
  /** The field of a batch envelope: its entries are for the handler to check one by one; too many are `batch_too_large`. */
  readonly batchOf?: string;
  /** For the document, by what they show; without them one is made of the examples of the fields. */
  readonly examples?: Readonly<Record<string, object>>;
}

/**
 * Takes the JSON body of a route: read after the guards, checked by the compiled validator of `dto`, and shown in the OpenAPI
 * document. The handler gets a plain object that fits `dto`, without the nulls that mean absent, or with `withText` a
 * `ReceivedJson` of it.
 *
 * It is no pipe: Nest takes at once what a decorator has at once, and waits for a pipe by four promises.
 */
export function JsonBody(dto: Type<object>, options: JsonBodyOptions = {}): ParameterDecorator {
  const { batchOf, checked = true } = options;
  const plan: BodyPlan = { dto, checked, ...(batchOf === undefined ? {} : { batchOf }) };
  expectBody(plan);
  const takeBody = createParamDecorator((_data: undefined, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request>();
    return bodyReaderOf(request).read(request, plan, options);
  });
  return (target, method, index) => {
    if (method === undefined) throw new Error('@JsonBody is for parameters of route handlers.');
    const descriptor = Object.getOwnPropertyDescriptor(target, method);
    if (descriptor !== undefined)
      ApiBody({ type: dto, required: options.optional !== true, ...shown(options.examples) })(
        target,
        method,
        descriptor,
      );
    takeBody()(target, method, index);
  };
}

function shown(examples: JsonBodyOptions['examples']): { examples?: Record<string, { value: object }> } {
  if (examples === undefined) return {};
  return { examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])) };
}
