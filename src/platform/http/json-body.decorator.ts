import {
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Request } from 'express';
import { describeFaults } from '../errors/describe-faults';
import { DomainError } from '../errors/domain-error';
import type { Fault } from '../errors/fault';
import { type BodyPlan, BodyValidators, expectBody } from './body-validators';
import { BODY_LIMITS, type BodyLimitsByName } from './body-limits';
import { announcesBody, readJsonBody } from './json-body';

export interface JsonBodyOptions {
  /** Which of the configured byte limits holds; `single` when absent. */
  readonly limit?: keyof BodyLimitsByName;
  /** False: the handler checks the shape itself, to name the faults of shape and meaning in one answer. */
  readonly checked?: boolean;
  /** A request without any body counts as `{}`. */
  readonly optional?: boolean;
  /** The field of a batch envelope: its entries are for the handler to check one by one; too many are `batch_too_large`. */
  readonly batchOf?: string;
  /** For the document, by what they show; without them one is made of the examples of the fields. */
  readonly examples?: Readonly<Record<string, object>>;
}

interface ExpectedBody {
  readonly request: Request;
  readonly plan: BodyPlan;
  readonly options: JsonBodyOptions;
}

/**
 * Takes the JSON body of a route: read after the guards, checked by the compiled validator of `dto`, and shown in the OpenAPI
 * document. The handler gets a plain object that fits `dto`, without the nulls that mean absent. The bytes and the value as
 * sent are `receivedJson(request)`.
 */
export function JsonBody(dto: Type<object>, options: JsonBodyOptions = {}): ParameterDecorator {
  const { batchOf, checked = true } = options;
  const plan: BodyPlan = { dto, checked, ...(batchOf === undefined ? {} : { batchOf }) };
  expectBody(plan);
  const takeBody = createParamDecorator((_data: undefined, context: ExecutionContext): ExpectedBody => ({
    request: context.switchToHttp().getRequest<Request>(),
    plan,
    options,
  }));
  return (target, method, index) => {
    if (method === undefined) throw new Error('@JsonBody is for parameters of route handlers.');
    const descriptor = Object.getOwnPropertyDescriptor(target, method);
    if (descriptor !== undefined)
      ApiBody({ type: dto, required: options.optional !== true, ...shown(options.examples) })(
        target,
        method,
        descriptor,
      );
    takeBody(undefined, JsonBodyPipe)(target, method, index);
  };
}

function shown(examples: JsonBodyOptions['examples']): { examples?: Record<string, { value: object }> } {
  if (examples === undefined) return {};
  return { examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])) };
}

/** Pipes run after guards, which is why the body is read in one. */
@Injectable()
export class JsonBodyPipe implements PipeTransform<ExpectedBody, Promise<unknown>> {
  constructor(
    private readonly validators: BodyValidators,
    @Inject(BODY_LIMITS) private readonly limits: BodyLimitsByName,
  ) {}

  async transform({ request, plan, options }: ExpectedBody): Promise<unknown> {
    const absent = options.optional === true && !announcesBody(request);
    const body = absent ? {} : (await readJsonBody(request, this.limits[options.limit ?? 'single'])).value;
    if (!plan.checked) return body;
    const { value, faults } = this.validators.for(plan.dto)(body);
    if (faults !== undefined) throw invalidBody(faults, plan);
    return value;
  }
}

function invalidBody(faults: readonly Fault[], { batchOf }: BodyPlan): DomainError {
  const tooLarge = faults.some(({ path, code }) => path === batchOf && code === 'too_many_items');
  return new DomainError(tooLarge ? 'batch_too_large' : 'validation_failed', describeFaults(faults), {
    details: faults,
  });
}
