import { signatureRefused } from './signature-refused';

/** How far the clocks of a client and ours may lie apart, and how long a request may be under way (contract section 2). */
export const SIGNATURE_WINDOW_SECONDS = 300;

/** Throws `invalid_signature` unless the signature was made within 300 s of `now`, both ends included, and has not expired. */
export function assertTimely(
  { created, expires }: { readonly created: number; readonly expires: number | undefined },
  now: Date,
): void {
  const nowSeconds = now.getTime() / 1_000;
  if (created < nowSeconds - SIGNATURE_WINDOW_SECONDS) throw offTheClock('before');
  if (created > nowSeconds + SIGNATURE_WINDOW_SECONDS) throw offTheClock('after');
  if (expires !== undefined && expires <= nowSeconds)
    throw signatureRefused('The signature has expired; sign it again.');
}

function offTheClock(side: 'before' | 'after'): Error {
  return signatureRefused(
    `The signature's created lies more than ${SIGNATURE_WINDOW_SECONDS} s ${side} the service's time, which Date tells; ` +
      'sign each request when it is sent, with a clock that is right.',
  );
}
