import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client holds its body back until it is told to go on (`Expect: 100-continue`). */
export function holdContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Tells a client that holds its body back to send it: called by whoever reads the body, after credential and scope. */
export function sendContinue(request: IncomingMessage): void {
  if (request.headers.expect === undefined) return;
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
