import { hash } from 'node:crypto';
import type { Operation } from './operation';

/**
 * SHA-256, in base64, of what a mutation does, to tell a repetition from other operations under the same `mutation_id` (contract
 * section 8): equal for the same operations in the same order, however their JSON was spaced, ordered and its numbers written.
 */
export function fingerprintOf(operations: readonly Operation[]): string {
  const content = operations.map(({ path, op, value }) => [path, op, value]);
  return hash('sha256', JSON.stringify(content), 'base64');
}
