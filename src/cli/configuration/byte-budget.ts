import { ClientFailure } from '../running-service';

/** The size of a file of configuration: a thousand event types of 5 KiB. A larger one is not read and not written. */
export const CONFIGURATION_BYTES_MAX = 5 * 1024 * 1024;

/** Bounds the memory that the configuration of a workspace takes, whatever a workspace has. */
export class ByteBudget {
  private left = 0;

  /** Before everything is read again. */
  reset(): void {
    // As JSON with what is not configuration, such as times: more than the same records take in a file.
    this.left = 4 * CONFIGURATION_BYTES_MAX;
  }

  /** The rows. Throws `ClientFailure` when more were read than fits. */
  spend<Rows extends readonly unknown[]>(rows: Rows): Rows {
    for (const row of rows) this.left -= Buffer.byteLength(JSON.stringify(row));
    if (this.left < 0) throw tooLarge('The configuration of the workspace');
    return rows;
  }
}

/** The refusal of what is over `CONFIGURATION_BYTES_MAX`. */
export function tooLarge(what: string): ClientFailure {
  const mebibytes = CONFIGURATION_BYTES_MAX / 1024 / 1024;
  return new ClientFailure(
    `${what} is larger than ${mebibytes} MiB, which is the limit of a file of configuration. ` +
      'Use the routes of the API for a workspace of this size, or several workspaces.',
  );
}
