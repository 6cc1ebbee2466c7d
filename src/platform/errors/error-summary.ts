/** The parts of an unexpected error that may be logged. */
interface ErrorSummary {
  readonly name: string;
  readonly code?: string;
  readonly frames: readonly string[];
  readonly cause?: ErrorSummary;
}

const CAUSES_MAX = 3;
const FRAMES_MAX = 20;
const CODE = /^[A-Z0-9_]{1,64}$/i;
const FRAME = /^\s+at .+$/;

/**
 * Describes an error by its class, its code and its stack, without its message. Messages of libraries quote values (a key of
 * a unique index, a snippet of JSON), which can be an identity, a property or a credential.
 */
export function summariseError(error: unknown, depth = 0): ErrorSummary {
  if (!(error instanceof Error)) return { name: `thrown ${error === null ? 'null' : typeof error}`, frames: [] };
  const code = 'code' in error && typeof error.code === 'string' && CODE.test(error.code) ? error.code : undefined;
  const cause = error.cause === undefined || depth === CAUSES_MAX ? undefined : summariseError(error.cause, depth + 1);
  return {
    name: error.constructor.name,
    ...(code === undefined ? {} : { code }),
    frames: stackFrames(error),
    ...(cause === undefined ? {} : { cause }),
  };
}

/** The log line and stack of an unexpected error, without its message; see `summariseError`. */
export function describeError(error: unknown): { line: string; stack: string } {
  return describeSummary(summariseError(error));
}

/** The summary as text: one line of names, then the frames of the innermost error that has any. */
export function describeSummary(summary: ErrorSummary): { line: string; stack: string } {
  const names: string[] = [];
  let frames = summary.frames;
  for (let at: ErrorSummary | undefined = summary; at !== undefined; at = at.cause) {
    names.push(at.code === undefined ? at.name : `${at.name} ${at.code}`);
    if (at.frames.length > 0) frames = at.frames;
  }
  return { line: names.join(', caused by '), stack: frames.join('\n') };
}

function stackFrames(error: Error): string[] {
  const stack = error.stack ?? '';
  // A stack begins with the message, which may itself have lines that look like frames.
  const messageAt = error.message === '' ? -1 : stack.indexOf(error.message);
  const frames = messageAt === -1 ? stack : stack.slice(messageAt + error.message.length);
  return frames
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, FRAMES_MAX);
}

/**
 * Whether an error of the operating system has one of these codes. Only the code is compared: under Jest an error of `node:fs`
 * is not an instance of the module's `Error`.
 */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && codes.includes(code);
}

/** The message of a thrown value, for a terminal. Not for logs and clients; see `describeError`. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'A value that is not an Error was thrown.';
}
