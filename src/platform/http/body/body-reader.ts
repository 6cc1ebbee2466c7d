import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { atOnce } from '../../async/at-once';
import { describeFaults } from '../../errors/describe-faults';
import type { Fault } from '../../errors/fault';
import { BodyRefusal } from './body-refusal';
import type { BodyLimitsByName } from './body-limits';
import type { BodyPlan, BodyValidators } from './body-validators';
import { announcesBody, readJsonBody, type ReceivedJson } from './json-body';

/** What a route says of its body besides its shape. */
export interface BodyUse {
  /** Which of the configured byte limits holds; `single` when absent. */
  readonly limit?: keyof BodyLimitsByName;
  /** A request without any body counts as `{}`. */
  readonly optional?: boolean;
  /** The handler takes a `ReceivedJson`: the value together with the bytes that were sent. */
  readonly withText?: boolean;
}

const BODY_READER = 'bodyReader';
const EMPTY_BODY: ReceivedJson = { value: {}, raw: Buffer.from('{}') };

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
    return atOnce(readJsonBody(request, this.limits[limit], plan.batchOf), (body) => {
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
export function bodyReaderOf(request: Request): BodyReader {
  const reader: unknown = request.app.locals[BODY_READER];
  if (!(reader instanceof BodyReader)) throw new Error('The application has no reader of bodies; see configureApp.');
  return reader;
}

function invalidBody(faults: readonly Fault[], { raw }: ReceivedJson, { batchOf }: BodyPlan): BodyRefusal {
  const tooLarge = faults.some(({ path, code }) => path === batchOf && code === 'too_many_items');
  const code = tooLarge ? 'batch_too_large' : 'validation_failed';
  return new BodyRefusal(code, describeFaults(faults), raw, { details: faults }, true);
}
