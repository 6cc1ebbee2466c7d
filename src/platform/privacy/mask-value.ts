import { HIDDEN, isAddress, maskAddress, maskContacts, maskPhone } from './contact-data';

/** A number as it is dialled, whole. */
const DIALLED = /^\(?(?:[+＋]|0)[\p{Nd} ()./-]*$/u;
const MASKED_PHONE = /^\+?\d{2}\*{7}\d{2}$/;
/** No address and no number is longer; what is need not be looked through for one. */
const CONTACT_CHARACTERS_MAX = 1_000;
/** What the first characters of a text may tell: of three or fewer nothing. */
const SHOWN_LENGTH_MIN = 4;

/** An identity value as views show it (contract section 6): `j***@e***.com`, `+49*******12`, `ab***`. */
export function maskIdentity(kind: 'EXTERNAL' | 'EMAIL' | 'PHONE' | 'DEVICE', value: string): string {
  if (kind === 'PHONE') return MASKED_PHONE.test(value) ? value : maskPhone(value);
  const at = value.lastIndexOf('@');
  if (kind === 'EMAIL' && at !== -1) return maskAddress(value.slice(0, at), value.slice(at + 1));
  return maskPlain(value);
}

/** A value that must not be shown, in the form that suits it. Of anything but text nothing is shown. */
export function maskValue(value: unknown): string {
  if (typeof value !== 'string') return HIDDEN;
  const text = value.trim();
  if (text.length > CONTACT_CHARACTERS_MAX) return maskPlain(text);
  if (isAddress(text)) return maskContacts(text);
  if (MASKED_PHONE.test(text)) return text;
  return DIALLED.test(text) ? maskPhone(text) : maskPlain(text);
}

function maskPlain(text: string): string {
  // Code points, so that no pair of surrogates is torn apart.
  const start = Array.from(text.slice(0, 2 * SHOWN_LENGTH_MIN));
  return start.length < SHOWN_LENGTH_MIN ? HIDDEN : `${start.slice(0, 2).join('')}${HIDDEN}`;
}
