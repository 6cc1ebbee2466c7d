import { textOfTime } from '../platform/postgres/time-text';

export const TEXT_OF_QUEUED_AT = `${textOfTime('queued_at')} AS queued_at`;

/** The same by immutable functions, which a distributed database takes in RETURNING; numbers of seconds have six decimals. */
export const IMMUTABLE_TEXT_OF_QUEUED_AT = [
  ...['year', 'month', 'day', 'hour', 'minute', 'second'].map(
    (part) =>
      `lpad(extract(${part} FROM p.queued_at AT TIME ZONE 'UTC')::text, ${{ year: 4, second: 9 }[part] ?? 2}, '0')`,
  ),
  `'Z'`,
].reduce((text, part, index) => `${text} || '${['', '-', '-', 'T', ':', ':', ''][index]}' || ${part}`);
