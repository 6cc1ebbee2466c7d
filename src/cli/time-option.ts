import { parseTimestamp } from '../platform/values/timestamp';
import { ClientFailure } from './running-service';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The time that an option names, as the service takes it. A date alone is its midnight in UTC. */
export function timeOption(option: string, text: string): string {
  const time = parseTimestamp(DAY.test(text) ? `${text}T00:00:00Z` : text);
  if ('at' in time) return new Date(time.at).toISOString();
  const words = time.code === 'missing_offset' ? 'needs Z or an offset from UTC' : 'is no time';
  throw new ClientFailure(
    `${option} ${words}: write it like 2026-01-02T03:04:05Z, or 2026-01-02 for its midnight in UTC.`,
    2,
  );
}
