import { isErrno, messageOf } from '../platform/errors/error-summary';

export interface ListenAddress {
  readonly port: number;
  readonly host: string;
}

/** Awaits an attempt to listen. A failure is an error with words for the operator, who has set HOST and PORT. */
export async function listening<Result>(attempt: Promise<Result>, address: ListenAddress): Promise<Result> {
  try {
    return await attempt;
  } catch (error) {
    throw new Error(wordsOf(error, address), { cause: error });
  }
}

function wordsOf(error: unknown, { port, host }: ListenAddress): string {
  if (isErrno(error, 'EADDRINUSE')) {
    return `Port ${port} is in use. Set PORT to another one, or stop what listens there.`;
  }
  if (isErrno(error, 'EACCES', 'EPERM')) {
    return `Port ${port} is not allowed for this account. Set PORT to 1024 or more, or grant the right to use it.`;
  }
  if (isErrno(error, 'ENOTFOUND', 'EAI_AGAIN')) {
    return `HOST (${host}) has no address. Set HOST to an address or a name of this machine.`;
  }
  if (isErrno(error, 'EADDRNOTAVAIL', 'EINVAL', 'EAFNOSUPPORT')) {
    return `HOST (${host}) is no address of this machine. Set HOST to one that it has, or to 0.0.0.0 for all.`;
  }
  return `The service cannot listen on port ${port} of ${host}: ${messageOf(error)}`;
}
