import {
  CampaignDataError,
  createClient,
  type CallSignals,
  type RetryOptions,
} from '../../clients/typescript/src/client';
import { readable } from './foreign-data';

/** A program that is a client of the service cannot go on, for a reason that its user can do something about. */
export class ClientFailure extends Error {
  /** Exit code 2: called the wrong way; 130: interrupted; 141: nobody reads the output any more; 1: everything else. */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 | 130 | 141 = 1,
  ) {
    super(message);
    this.name = 'ClientFailure';
  }
}

/** The service has refused a request, or another server has answered: sending the same again changes nothing. */
export class ServiceRefusal extends ClientFailure {
  constructor(
    message: string,
    /** Of an answer of the service: its code and its message. */
    readonly problem?: { readonly errorCode: string; readonly message: string },
  ) {
    super(message);
  }
}

/** Sentences of the program that follow the description of a failure. */
export interface FailureAdvice {
  /** After 401 and 403. */
  readonly credential: string;
  /** After the service has stopped answering. */
  readonly unreachable: string;
}

const ATTEMPT_MS_MAX = 30_000;

/** The shipped client, with failures in words for the terminal. All that is posted may be posted again. */
export class RunningService {
  readonly client;
  private hasAnswered = false;

  constructor(
    private readonly url: string,
    key: string,
    private readonly advice: FailureAdvice,
    retry: RetryOptions,
  ) {
    this.client = createClient({
      baseUrl: url,
      apiKey: key,
      retry: { attemptMsMax: ATTEMPT_MS_MAX, pauseMsMin: 250, pauseMsMax: 8_000, ...retry },
      fetch: async (...request) => {
        const response = await fetch(...request);
        this.hasAnswered = true;
        return response;
      },
    });
  }

  /** The JSON at a path. Throws `ClientFailure`, and the reason of a signal. */
  get(path: string, signals: CallSignals = {}): Promise<unknown> {
    return this.withFailures(this.client.get(path, signals));
  }

  post(path: string, body: object | string, signals: CallSignals = {}): Promise<unknown> {
    return this.withFailures(this.client.post(path, body, signals));
  }

  /** The result of a call of `client`, whose errors become `ClientFailure`s. */
  async withFailures<Result>(call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      throw error instanceof CampaignDataError ? this.failure(error) : error;
    }
  }

  failure(error: CampaignDataError): ClientFailure {
    const { status, errorCode, message } = error;
    if (errorCode === 'unexpected_answer') return this.foreignAnswer(status);
    if (status === 0) return this.noAnswer(reasonOf(error.cause));
    const advice = status === 401 || status === 403 ? ` ${this.advice.credential}` : '';
    const words = `The service answered ${status} ${readable(errorCode)}: ${readable(message)}${advice}`;
    return isTransient(status) ? new ClientFailure(words) : new ServiceRefusal(words, { errorCode, message });
  }

  /** The failure of an answer that the service does not give. */
  foreignAnswer(status: number): ClientFailure {
    const words = `${this.url} answered ${status}. Is this the Campaign Data Service? Name it with --url.`;
    return isTransient(status) ? new ClientFailure(words) : new ServiceRefusal(words);
  }

  private noAnswer(reason: string): ClientFailure {
    return new ClientFailure(
      this.hasAnswered
        ? `The service at ${this.url} no longer answers (${reason}). ${this.advice.unreachable}`
        : `No service answers at ${this.url} (${reason}). Start it with "npm start", or name its address with --url.`,
    );
  }
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Whether a server that is not the service has answered with success; a repetition would not change that. */
export function isForeignAnswer({ errorCode, status }: CampaignDataError): boolean {
  return errorCode === 'unexpected_answer' && status >= 200 && status < 300;
}

/** Why an attempt failed, in a few words. */
export function attemptFailure({ status, cause }: CampaignDataError): string {
  return status === 0 ? `no answer (${reasonOf(cause)})` : `answered ${status}`;
}

/** `fetch failed` does not name the reason; the code of the innermost cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return `no answer within ${ATTEMPT_MS_MAX / 1_000} s`;
  if (error.cause !== undefined) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
