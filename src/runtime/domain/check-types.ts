import type { Fault } from '../../platform/errors/fault';
import { itemPath, typeFault } from '../../platform/errors/fault-words';
import { isOfType } from '../../variables/domain/value-type';
import type { VariableType } from '../../variables/domain/variable';
import type { ResolvedOperation } from './resolve-paths';

const TYPE_WORDS: Readonly<Record<VariableType, string>> = {
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
};

/** Holds every operation against its variable's type (contract section 8): every fault, all with code `type`. */
export function checkTypes(operations: readonly ResolvedOperation[]): readonly Fault[] {
  return operations.flatMap((operation, index) => faultsOf(operation, itemPath('ops', index)));
}

function faultsOf({ op, value, declaration: { type } }: ResolvedOperation, at: string): Fault[] {
  if (op === 'set') return isOfType(value, type) ? [] : [typeFault(`${at}.value`, TYPE_WORDS[type])];
  return type === 'number' ? [] : [notANumberFault(`${at}.op`, type)];
}

function notANumberFault(path: string, type: VariableType): Fault {
  const message = `${path} changes a number, but the variable is declared as ${type}; use set.`;
  return { path, code: 'type', message };
}
