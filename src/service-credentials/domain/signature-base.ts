/** A component as the signature base names it, and its value in this request. */
export type ComponentValue = readonly [name: string, value: string];

/**
 * The text that is signed (RFC 9421, section 2.5): a line for each component in the order of the signature, then the
 * signature's own parameters, and no line break at the end.
 */
export function signatureBase(components: readonly ComponentValue[], signatureParams: string): string {
  const lines = [...components, ['@signature-params', signatureParams] as const];
  return lines.map(([name, value]) => `"${name}": ${value}`).join('\n');
}
