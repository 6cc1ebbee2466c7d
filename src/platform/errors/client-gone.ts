/**
 * The client went away in the middle of its request. Nobody is left to answer, and nothing is wrong with the service: the
 * exception filter closes the connection without a log line.
 */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection before its request was complete.');
    this.name = 'ClientGone';
  }
}
