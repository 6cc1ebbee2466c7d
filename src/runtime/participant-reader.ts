import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../platform/values/time-slice';
import { cursorAfterLookedAt, type LookedAtRow } from '../platform/pagination/id-key';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { valuesOf, type ParticipantDocument, type StoredValues, type SystemFields } from './domain/state-tree';
import { READ_PARTICIPANTS } from './participant-list.sql';

/** A participant of a campaign with the own values that are stored. */
export interface StoredParticipant {
  readonly subject: string;
  readonly values: StoredValues;
  readonly system: SystemFields;
}

/** Some participants in the order of the list, and where it goes on; null at the end. */
export interface ParticipantPage {
  readonly participants: readonly StoredParticipant[];
  readonly nextCursor: string | null;
}

/**
 * Rows that one page may look at (docs/adr/0012): participants who have changed values of the campaign or the app alone are among
 * them. Such a page comes short, and its cursor goes on where it stopped.
 */
const ROWS_LOOKED_AT_MAX = 10_000;

/** Texts are JSON, which is parsed row by row. Without values the row is none of the page. */
interface ParticipantRow extends LookedAtRow {
  readonly subject: string;
  readonly values: string | null;
  readonly system: string;
}

/** Lists the participants of a campaign (docs/adr/0053). */
@Injectable()
export class ParticipantReader {
  constructor(private readonly database: DataSource) {}

  /**
   * One page of those below the id `before`, the newest first, in one statement. `defaultsBytes`: what a participant without any of
   * these values is shown, which counts towards the bytes of the page (docs/adr/0038).
   */
  async list(
    tenantId: string,
    campaignId: string,
    before: string,
    { limit, defaultsBytes }: { readonly limit: number; readonly defaultsBytes: number },
  ): Promise<ParticipantPage> {
    const rows: ParticipantRow[] = await this.database.query(READ_PARTICIPANTS, [
      ...[tenantId, campaignId, before, limit, PAGE_BYTES_MAX, defaultsBytes, ROWS_LOOKED_AT_MAX],
    ]);
    const slice = new TimeSlice();
    const participants: StoredParticipant[] = [];
    for (const { subject, values, system } of rows) {
      await slice.pause();
      if (values !== null) participants.push({ subject, ...parsed(values, system) });
    }
    const lastShown = rows.findLast(({ values }) => values !== null);
    return { participants, nextCursor: cursorAfterLookedAt(rows, lastShown, ROWS_LOOKED_AT_MAX) };
  }
}

function parsed(valuesText: string, systemText: string): Pick<StoredParticipant, 'values' | 'system'> {
  const { sessionId = null } = JSON.parse(systemText) as Partial<SystemFields>;
  const system = { sessionId };
  const values = valuesOf({ values: JSON.parse(valuesText) as ParticipantDocument['values'], system });
  return { values, system };
}
