import type { Fault } from '../../platform/errors/fault';
import { fieldPath, requiredFault, typeFault } from '../../platform/errors/fault-words';
import { validationFailed } from '../../platform/errors/validation-failed';
import { isObject } from '../../platform/values/json/json-values';

/** Keys have 42 characters, or up to 200 when an operator chose one. */
const KEY_CHARACTERS_MAX = 200;

/** The body of a sign-in, and of a proof. */
export class SignInDto {
  /** An API key of the workspace. */
  key!: string;
}

/** The key in a body. Throws `validation_failed`. */
export function signInKeyOf(body: unknown): string {
  if (!isObject(body)) throw validationFailed([typeFault('', 'an object')]);
  const { key, ...others } = body;
  const faults: Fault[] = Object.keys(others).map((name) => {
    const path = fieldPath('', name);
    return { path, code: 'unknown_field', message: `${path} is not a field of this body.` };
  });
  if (key === undefined || key === null) faults.push(requiredFault('key'));
  else if (typeof key !== 'string') faults.push(typeFault('key', 'a string'));
  else if (key.length > KEY_CHARACTERS_MAX) {
    const message = `key is longer than ${KEY_CHARACTERS_MAX} characters.`;
    faults.push({ path: 'key', code: 'too_long', message });
  } else if (faults.length === 0) return key;
  throw validationFailed(faults);
}
