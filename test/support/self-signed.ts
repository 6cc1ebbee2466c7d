import { generateKeyPairSync, sign } from 'node:crypto';

export interface ServerIdentity {
  /** PEM; also the authority to trust. */
  readonly cert: string;
  readonly key: string;
}

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const SUBJECT_ALT_NAME = oid('551d11');

/** A certificate for one DNS name, signed by itself. Node can read certificates but not make them, and files expire. */
export function selfSigned(name: string): ServerIdentity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const dn = sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(name)))));
  const altNames = sequence(tlv(0x82, Buffer.from(name)));
  const toBeSigned = sequence(
    tlv(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    dn,
    sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
    dn,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(sequence(SUBJECT_ALT_NAME, tlv(0x04, altNames)))),
  );
  const signature = tlv(0x03, Buffer.from([0]), sign('sha256', toBeSigned, privateKey));
  const certificate = sequence(toBeSigned, ECDSA_WITH_SHA256, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Tag, length, value (X.690, DER). */
function tlv(tag: number, ...values: readonly Buffer[]): Buffer {
  const value = Buffer.concat(values);
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

function sequence(...values: readonly Buffer[]): Buffer {
  return tlv(0x30, ...values);
}

function integer(value: number): Buffer {
  return tlv(0x02, Buffer.from([value]));
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'));
}

function utcTime(text: string): Buffer {
  return tlv(0x17, Buffer.from(text));
}
