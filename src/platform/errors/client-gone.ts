/**
 * The client closed the connection during its request. There is no one to answer and no fault of the service: the exception
 * filter closes the connection without a log line.
 */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection before its request was complete.');
    this.name = 'ClientGone';
  }
}
