/**
 * Works on several at once, at most `concurrency`, and gives the results in the order of the inputs. What fails first is thrown
 * at its place; `giveUp` is called when it is, or when nobody wants the rest.
 */
export async function* inOrder<Input, Output>(
  inputs: AsyncIterable<Input>,
  work: (input: Input) => Promise<Output>,
  concurrency: number,
  giveUp: () => void,
): AsyncGenerator<Output, void> {
  const running: Promise<Output>[] = [];
  try {
    for await (const input of inputs) {
      const result = work(input);
      // It is thrown when its turn comes; until then nobody looks.
      result.catch(() => undefined);
      running.push(result);
      const first = running.length >= concurrency ? running.shift() : undefined;
      if (first !== undefined) yield await first;
    }
    for (const result of running) yield await result;
  } finally {
    giveUp();
  }
}
