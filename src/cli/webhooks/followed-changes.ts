import { changeBody } from '../../webhooks/domain/change-body';
import type { ChangeContent } from '../../webhooks/domain/stored-change';
import { nameId } from '../../platform/values/ids';
import { fieldsOf } from '../foreign-data';
import type { RunningService } from '../running-service';

/** As many as the service lists at once. */
const PAGE_ITEMS_MAX = 200;

/** Whose changes are followed: a participant's in a campaign, or those of a value that participants share. */
export type FollowedHistory =
  | { readonly campaignId: string; readonly participant: string }
  | { readonly campaignId: string; readonly scope: 'campaign' | 'app'; readonly name: string };

/** An entry of a history, as the service lists it. */
type HistoryEntry = Omit<ChangeContent, 'ownerId' | 'periodStart'> & { readonly periodStart?: string };

/** A change, as it is sent. */
export interface FollowedChange {
  readonly id: string;
  readonly at: string;
  /** Of the body. */
  readonly type: string;
  readonly body: string;
}

/** `<campaign>/participants/<sub>`, or `<campaign>/campaign/<name>` and `<campaign>/app/<name>`; undefined for other texts. */
export function parseFollowed(text: string): FollowedHistory | undefined {
  const [, campaignId = '', kind = '', rest = ''] =
    /^([^/]{1,128})\/(participants|campaign|app)\/(.{1,256})$/.exec(text) ?? [];
  if (rest === '') return undefined;
  if (kind === 'participants') return { campaignId, participant: rest };
  return { campaignId, scope: kind === 'app' ? 'app' : 'campaign', name: rest };
}

/** Reads the changes of one history, each once. Their times never go back (docs/adr/0063). */
export class ChangeFollower {
  /** How many entries with the time `from` were read. */
  private known = 0;

  constructor(
    private readonly followed: FollowedHistory,
    private from: string,
  ) {}

  /** The changes since the last call, oldest first. Throws `ClientFailure`, and the reason of the signal. */
  async next(service: RunningService, unmask: boolean, signal: AbortSignal): Promise<readonly FollowedChange[]> {
    const entries: HistoryEntry[] = [];
    for (let cursor: unknown; cursor !== null;) {
      const body = await service.get(`${pathOf(this.followed)}?${this.queryOf(cursor).toString()}`, { signal });
      const { items, nextCursor = null } = fieldsOf(body);
      if (!Array.isArray(items) || !items.every(isEntry)) throw service.foreignAnswer(200);
      entries.push(...items);
      cursor = nextCursor;
    }
    entries.reverse();
    // Those that were read may be gone since, with their person.
    const left = entries.filter(({ at }) => at === this.from).length;
    const fresh = entries.slice(Math.min(this.known, left));
    const last = entries.at(-1);
    if (last !== undefined) {
      this.from = last.at;
      this.known = entries.filter(({ at }) => at === last.at).length;
    }
    return fresh.map((entry) => changeOf(this.followed, entry, unmask));
  }

  private queryOf(cursor: unknown): URLSearchParams {
    const next = typeof cursor === 'string' ? { cursor } : {};
    return new URLSearchParams({ from: this.from, limit: String(PAGE_ITEMS_MAX), ...next });
  }
}

/** The service has written it; this tells it from what another server answers. */
function isEntry(item: unknown): item is HistoryEntry {
  const { at, cause } = fieldsOf(item);
  return typeof at === 'string' && typeof fieldsOf(cause)['kind'] === 'string';
}

function pathOf(followed: FollowedHistory): string {
  const campaign = `/v1/campaigns/${encodeURIComponent(followed.campaignId)}`;
  if ('participant' in followed) return `${campaign}/participants/${encodeURIComponent(followed.participant)}/history`;
  return `${campaign}/variables/${followed.scope}/${encodeURIComponent(followed.name)}/history`;
}

function changeOf(followed: FollowedHistory, entry: HistoryEntry, unmask: boolean): FollowedChange {
  const { at, scope, name, op, previous, current, periodStart = null } = entry;
  // The real id is not listed; this one is the same for the same change.
  const id = nameId([pathOf(followed), JSON.stringify(entry)]);
  const ownerId = scope === 'app' ? 'default' : followed.campaignId;
  const { subject, cause } = whoIn(followed, entry.cause);
  const content = { at, scope, ownerId, name, op, previous, current, periodStart, cause };
  const body = changeBody({ id, subject, content }, !unmask);
  return { id, at, type: `change.${scope}.${name}`, body };
}

/**
 * The participant whom a change is about; empty: nobody. The actor at a shared value is a participant or a backend, and
 * the history does not tell which: each is masked as a participant is.
 */
function whoIn(
  followed: FollowedHistory,
  cause: ChangeContent['cause'],
): { readonly subject: string; readonly cause: ChangeContent['cause'] } {
  if ('participant' in followed) return { subject: followed.participant, cause };
  if (cause.kind !== 'mutation' || cause.actor === undefined) return { subject: '', cause };
  const { actor, ...rest } = cause;
  return { subject: actor, cause: rest };
}
