const FAILED = Symbol('failed');
const ABORTED = Symbol('aborted');

/**
 * Works on several at once, at most `concurrency`, and gives each result as soon as those of all inputs before it are given, also
 * while it waits for the next input. Once one has failed no other is begun; those under way are completed and their results
 * given, and then the first failure is thrown. The same when the inputs fail, and when `signal` is aborted, also while the next
 * input does not come. `giveUp` is called at the end, also when the caller stops reading.
 */
export async function* inOrder<Input, Output>(
  inputs: AsyncIterable<Input>,
  work: (input: Input) => Promise<Output>,
  concurrency: number,
  { signal, giveUp }: { readonly signal: AbortSignal | undefined; readonly giveUp: () => void },
): AsyncGenerator<Output, void> {
  const iterator = inputs[Symbol.asyncIterator]();
  const running: Promise<Output | typeof FAILED>[] = [];
  const failures: unknown[] = [];
  const fail = (error: unknown): typeof FAILED => {
    failures.push(error);
    return FAILED;
  };
  let reading: Promise<IteratorResult<Input, unknown> | typeof FAILED> | undefined;
  let hasMore = true;
  try {
    for (;;) {
      // An input that is being read counts, so that no more than `concurrency` are held.
      if (hasMore && failures.length === 0 && running.length < concurrency) reading ??= iterator.next().catch(fail);
      const expected = failures.length === 0 ? reading : undefined;
      const next = await orAborted(firstOf(running[0], expected), expected && signal);
      if (next === undefined) break;
      if (next === ABORTED) {
        fail(signal?.reason);
        continue;
      }
      if ('result' in next) {
        void running.shift();
        if (next.result !== FAILED) yield next.result;
        continue;
      }
      reading = undefined;
      if (next.read === FAILED || next.read.done === true) hasMore = false;
      // What was read while another failed is not begun.
      else if (failures.length === 0) running.push(work(next.read.value).catch(fail));
    }
    if (failures.length > 0) throw failures[0];
  } finally {
    giveUp();
    const closing = hasMore ? iterator.return?.() : undefined;
    // An input that is being read may never come; the inputs are closed when it does.
    if (reading === undefined) await closing;
    else closing?.catch(() => undefined);
  }
}

/** Whichever is there first, the result if both are; undefined when there is nothing to wait for. */
function firstOf<Result, Read>(
  oldest: Promise<Result> | undefined,
  reading: Promise<Read> | undefined,
): Promise<{ readonly result: Result } | { readonly read: Read } | undefined> {
  const result = oldest?.then((given) => ({ result: given }));
  const read = reading?.then((given) => ({ read: given }));
  if (result === undefined || read === undefined) return result ?? read ?? Promise.resolve(undefined);
  return Promise.race([result, read]);
}

/** `ABORTED` when the signal is aborted first, or was before. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value | typeof ABORTED> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(ABORTED);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.finally(() => signal.removeEventListener('abort', onAbort)).then(resolve, reject);
  });
}
