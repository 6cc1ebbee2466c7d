import { isInnerList, serializeInnerList, type InnerList } from 'structured-headers';
import { isSignatureAlgorithm, SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from './service-credential';
import { signatureRefused, readDictionary } from './structured-dictionary';

/** The label of the signature that is verified. Others, such as a proxy's own, are ignored. */
export const SIGNATURE_LABEL = 'sig1';

/** The components that a signature covers: all of them and no others, in any order (contract section 2). */
export const SIGNED_COMPONENTS = ['@method', '@path', '@query', 'content-digest'] as const;

export type SignedComponent = (typeof SIGNED_COMPONENTS)[number];

/** The parameters of a signature. */
export interface SignatureInput {
  readonly components: readonly SignedComponent[];
  /** Seconds since 1970. */
  readonly created: number;
  /** Seconds since 1970. */
  readonly expires: number | undefined;
  readonly keyId: string;
  readonly algorithm: SignatureAlgorithm;
  /** The whole value with all parameters, which is the last line of the signature base. */
  readonly serialized: string;
}

/** Reads `sig1` of a `Signature-Input` header. Throws `invalid_signature` unless it has the form of the contract. */
export function readSignatureInput(header: string | undefined): SignatureInput {
  const member = readDictionary('Signature-Input', header).get(SIGNATURE_LABEL);
  if (member === undefined)
    throw signatureRefused(`Signature-Input has no signature with the label ${SIGNATURE_LABEL}.`);
  if (!isInnerList(member)) throw inputRefused('must begin with a list of components in parentheses');
  const [, parameters] = member;
  return {
    components: coveredComponents(member),
    created: integer('created', parameters.get('created')),
    expires: parameters.has('expires') ? integer('expires', parameters.get('expires')) : undefined,
    keyId: text('keyid', parameters.get('keyid')),
    algorithm: algorithm(text('alg', parameters.get('alg'))),
    serialized: serializeInnerList(member),
  };
}

function coveredComponents([items]: InnerList): SignedComponent[] {
  const components = items.map(([name, parameters]) => {
    const component = SIGNED_COMPONENTS.find((each) => each === name);
    if (component === undefined) throw inputRefused(`covers a component other than ${listed(SIGNED_COMPONENTS)}`);
    if (parameters.size > 0) throw inputRefused(`has a parameter at the component "${component}", which takes none`);
    return component;
  });
  const missing = SIGNED_COMPONENTS.filter((component) => !components.includes(component));
  if (missing.length > 0) throw inputRefused(`does not cover ${listed(missing)}`);
  if (components.length > SIGNED_COMPONENTS.length) throw inputRefused('covers a component twice');
  return components;
}

function integer(name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw inputRefused(`needs the integer parameter ${name}`);
  return value;
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw inputRefused(`needs the parameter ${name}, a text in quotes`);
  return value;
}

function algorithm(name: string): SignatureAlgorithm {
  if (!isSignatureAlgorithm(name)) throw inputRefused(`must have one of these as alg: ${listed(SIGNATURE_ALGORITHMS)}`);
  return name;
}

function inputRefused(words: string): Error {
  return signatureRefused(`Signature-Input: ${SIGNATURE_LABEL} ${words}.`);
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
