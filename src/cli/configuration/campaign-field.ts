import type { Fault } from '../../platform/errors/fault';
import { formatFault, requiredFault, typeFault } from '../../platform/errors/fault-words';
import { isAbsent } from '../../platform/values/json/json-values';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';
import type { ConfigurationEntry } from './configuration-kind';

/** The faults of `campaignId`, which the routes have in their path. */
export function campaignFaults({ campaignId }: ConfigurationEntry): Fault[] {
  if (isAbsent(campaignId)) return [requiredFault('campaignId')];
  if (typeof campaignId !== 'string') return [typeFault('campaignId', 'a string')];
  return PATH_NAME.test(campaignId) ? [] : [formatFault('campaignId', PATH_NAME_FORM)];
}
