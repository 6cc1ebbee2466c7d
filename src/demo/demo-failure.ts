/** The demo cannot go on, for a reason that the person at the terminal can do something about. */
export class DemoFailure extends Error {
  /** Exit code 2: called the wrong way; 1: everything else. */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = 'DemoFailure';
  }
}
