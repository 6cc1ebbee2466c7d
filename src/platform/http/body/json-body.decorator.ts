import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiBody } from '@nestjs/swagger';
import type { Request } from 'express';
import { andThen } from '../../async/and-then';
import { describeFaults } from '../../errors/describe-faults';
import type { Fault } from '../../errors/fault';
import { BodyRefusal } from './body-refusal';
import { type BodyPlan, type BodyValidators, expectBody } from './body-validators';
import { announcesBody, readJsonBody, type BodyLimitsByName, type ReceivedJson } from './json-body';

/** What a route says of its body besides its shape. */
export interface BodyUse {
  /** Which of the configured byte limits holds; `single` when absent. */
  readonly limit?: keyof BodyLimitsByName;
  /** A request without any body counts as `{}`. */
  readonly optional?: boolean;
  /** The handler takes a `ReceivedJson`: the value together with the bytes that were sent. */
  readonly withText?: boolean;
}

export interface JsonBodyOptions extends BodyUse {
  /** False: the handler checks the shape itself, to name the faults of shape and meaning in one answer. */
  readonly checked?: boolean;
  /** The field of a batch envelope: its entries are for the handler to check one by one; too many are `batch_too_large`. */
  readonly batchOf?: string;
  /** For the document, by what they show; without them one is made of the examples of the fields. */
  readonly examples?: Readonly<Record<string, object>>;
}

const BODY_READER = 'bodyReader';
const EMPTY_BODY: ReceivedJson = { value: {}, raw: Buffer.from('{}') };

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

/** Reads the bodies of an application's routes, and holds them to their DTOs. */
export class BodyReader {
  constructor(
    private readonly validators: BodyValidators,
    private readonly limits: BodyLimitsByName,
  ) {}

  /**
   * The body as a handler takes it; of a request that is not all there yet a promise of it. To be called behind the guards.
   * Throws what `readJsonBody` throws, `validation_failed`, and `batch_too_large`.
   */
  read(request: Request, plan: BodyPlan, { limit = 'single', optional = false, withText = false }: BodyUse): unknown {
    if (optional && !announcesBody(request)) return this.checked(EMPTY_BODY, plan);
    return andThen(readJsonBody(request, this.limits[limit], plan.batchOf), (body) => {
      const value = this.checked(body, plan);
      return withText ? { value, raw: body.raw, entries: body.entries } : value;
    });
  }

  private checked(body: ReceivedJson, plan: BodyPlan): unknown {
    if (!plan.checked) return body.value;
    const { value, faults } = this.validators.for(plan.dto)(body.value);
    if (faults !== undefined) throw invalidBody(faults, body, plan);
    return value;
  }
}

/** Makes a reader known to all requests of an application: parameter decorators have no other way to one. */
export function setBodyReader(app: NestExpressApplication, reader: BodyReader): void {
  app.setLocal(BODY_READER, reader);
}

/** The reader of the application that this request came to. */
function bodyReaderOf(request: Request): BodyReader {
  const reader: unknown = request.app.locals[BODY_READER];
  if (!(reader instanceof BodyReader)) throw new Error('The application has no reader of bodies; see configureApp.');
  return reader;
}

function invalidBody(faults: readonly Fault[], { raw }: ReceivedJson, { batchOf }: BodyPlan): BodyRefusal {
  const tooLarge = faults.some(({ path, code }) => path === batchOf && code === 'too_many_items');
  const code = tooLarge ? 'batch_too_large' : 'validation_failed';
  return new BodyRefusal(code, describeFaults(faults), raw, { details: faults }, true);
}
