const FAILED = Symbol('failed');

/**
 * Works on several at once, at most `concurrency`, and gives the results in the order of the inputs. Once one has failed no other
 * is begun; those under way are completed and their results given, and then the first failure is
 * thrown. The same when the inputs fail. `giveUp` is called at the end, also when the caller stops reading.
 */
export async function* inOrder<Input, Output>(
  inputs: AsyncIterable<Input>,
  work: (input: Input) => Promise<Output>,
  concurrency: number,
  giveUp: () => void,
): AsyncGenerator<Output, void> {
  const running: Promise<Output | typeof FAILED>[] = [];
  const failures: unknown[] = [];
  const fail = (error: unknown): typeof FAILED => {
    failures.push(error);
    return FAILED;
  };
  try {
    try {
      for await (const input of inputs) {
        // What was read while another failed is not begun.
        if (failures.length > 0) break;
        running.push(work(input).catch(fail));
        if (running.length < concurrency) continue;
        const result = await running.shift();
        if (result !== undefined && result !== FAILED) yield result;
        if (failures.length > 0) break;
      }
    } catch (error) {
      fail(error);
    }
    for (const each of running) {
      const result = await each;
      if (result !== FAILED) yield result;
    }
    if (failures.length > 0) throw failures[0];
  } finally {
    giveUp();
  }
}
