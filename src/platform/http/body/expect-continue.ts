import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Marks a request whose client waits for 100 Continue before it sends the body. */
export function holdContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Sends 100 Continue to a waiting client. The code that reads the body calls it, after credential and scope were checked. */
export function sendContinue(request: IncomingMessage): void {
  if (request.headers.expect === undefined) return;
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
