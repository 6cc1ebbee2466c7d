/** A client of the service cannot go on, for a reason that the person at the terminal can do something about. */
export class ClientFailure extends Error {
  /** Exit code 2: called the wrong way; 130: interrupted; 1: everything else. */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 | 130 = 1,
  ) {
    super(message);
    this.name = 'ClientFailure';
  }
}
