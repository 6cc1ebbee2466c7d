import { maskProperties } from '../../platform/privacy/mask';
import { maskIdentity } from '../../platform/privacy/mask-text';
import { bodyText } from './body-text';
import type { ChangeToSend } from './stored-change';

/**
 * The body of a call about a change. Masked (contract section 6), the participant is shown as an identifier is, and a
 * value as a property of the variable's name. A large one comes without values (`bodyText`).
 */
export function changeBody({ id, subject, content }: ChangeToSend, isMasked: boolean): string {
  const { at, scope, ownerId, name, op, periodStart } = content;
  const participant = isMasked && subject !== '' ? maskIdentity('EXTERNAL', subject) : subject;
  const reference = {
    changeId: id,
    at,
    scope,
    [scope === 'app' ? 'appId' : 'campaignId']: ownerId,
    name,
    ...(scope === 'user' ? { participant } : {}),
    op,
    ...(periodStart === null ? {} : { periodStart }),
  };
  const shown = isMasked ? maskedValue : (_name: string, value: unknown) => value;
  const cause = {
    ...content.cause,
    ...('mutationId' in content.cause ? { mutationId: shown('mutationId', content.cause.mutationId) } : {}),
    ...(scope !== 'user' && subject !== '' ? { actor: participant } : {}),
  };
  const values = { previous: shown(name, content.previous), current: shown(name, content.current), cause };
  return bodyText({ type: `change.${scope}.${name}`, timestamp: at }, reference, values);
}

/** As views show a property of this name. */
function maskedValue(name: string, value: unknown): unknown {
  // The name itself may be masked, too.
  return Object.values(maskProperties({ [name]: value }, new Set()) as object)[0];
}
