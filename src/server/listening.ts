import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from '../platform/config/settings';
import { isErrno, messageOf } from '../platform/errors/error-summary';

export interface ListenAddress {
  readonly port: number;
  readonly host: string;
}

/** With an embedded database the service listens on the loopback interface unless HOST is set. */
export function listeningHost({ host, databaseUrl }: Settings): string {
  return host ?? (databaseUrl === undefined ? '127.0.0.1' : '0.0.0.0');
}

/** The address of a server that listens. */
export function listeningUrl(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? 'localhost' : address;
  return `http://${family === 'IPv6' && host !== 'localhost' ? `[${host}]` : host}:${port}`;
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
