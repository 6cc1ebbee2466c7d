import { Injectable } from '@nestjs/common';
import type { Refusal } from '../../ingest/domain/ingest-result';
import { EventParsers } from '../../ingest/parse/event-parsers';
import { EventSample } from '../../ingest/log/event-sample';
import type { Principal } from '../../platform/auth/principal';
import { grants } from '../../platform/auth/scopes';
import { scopeMissing } from '../../platform/errors/challenges';
import type { Fault } from '../../platform/errors/fault';
import { PAGE_BYTES_MAX } from '../../platform/pagination/page-bytes';
import { maskProperties } from '../../platform/privacy/mask';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { jsonTextOf } from '../../platform/values/json/json-text-of';
import { EventPreviews, type PreviewedEvent } from '../../processing/event-previews';
import type { MutationEntry } from '../../runtime/domain/mutation-work';
import { DEFAULT_APP_ID } from '../../runtime/domain/state-owner';
import { StateService } from '../../runtime/state.service';
import { parseVariablePath } from '../../variables/domain/variable';
import { compileCondition, type Verdict } from '../domain/compile-condition';
import { recordOf, type EventRecord } from '../domain/event-record';
import { type PersonalNames, sharedCopiesOf } from '../domain/personal-data';
import { planReaction, type CompiledReaction, type ReactionResult } from '../domain/react';
import { storedOf, type StoredReaction } from '../domain/reaction';
import { EvaluationTime } from '../evaluation-time';
import { ReactionsService } from '../reactions.service';
import { ConditionResults, explainCondition, type Reason } from './domain/explain';
import type { RehearsalRequest, RehearsedEvents, RehearsedReaction } from './domain/rehearsal-request';

/** What a reaction would do with one event. */
export interface RehearsedEvent {
  /** Null: an event that would be refused. */
  readonly eventId: string | null;
  readonly matched: boolean;
  readonly outcome: ReactionResult['outcome'];
  readonly why: Reason;
  readonly changes: readonly RehearsedChange[];
  readonly faults: readonly Fault[];
}

/** Without the values when the caller may not read state. */
export type RehearsedChange = Pick<MutationEntry, 'path'> & Partial<MutationEntry>;

export interface Rehearsal {
  readonly items: readonly RehearsedEvent[];
  /** Events that were left out: the time was used up, or the answer was large enough. */
  readonly omitted: number;
}

/** A request takes so long at most, plus one event. */
const RUN_MS_MAX = 5_000;
/** Limits the memory: an event has 64 KiB of properties at most. */
const EVENTS_PER_READ = 20;

/** A reaction with what explains its condition. */
interface RehearsedRule {
  readonly stored: StoredReaction;
  readonly compiled: CompiledReaction;
  readonly results: ConditionResults;
  /** Of the last evaluation. */
  lastVerdict: Verdict;
  readonly names: PersonalNames;
}

/**
 * Shows what a reaction would do with events (contract section 14, docs/adr/0065): each by itself, from the values as
 * they are now. Writes nothing.
 */
@Injectable()
export class RehearsalService {
  constructor(
    private readonly reactions: ReactionsService,
    private readonly parsers: EventParsers,
    private readonly sample: EventSample,
    private readonly previews: EventPreviews,
    private readonly states: StateService,
    private readonly personal: PersonalProperties,
  ) {}

  /**
   * Throws as a definition does for a `reaction`, and `not_found` for a `name`. Throws `insufficient_scope` for stored
   * events without `events:read`.
   */
  async run(caller: Principal, campaignId: string, { reaction, events }: RehearsalRequest): Promise<Rehearsal> {
    const rule = await this.ruleOf(caller, campaignId, reaction);
    if ('event' in events)
      return { items: [await this.rehearseUnstored(caller, campaignId, rule, events)], omitted: 0 };
    if (!grants(caller.scopes, 'events:read')) {
      throw scopeMissing('events:read', 'Testing a reaction on stored events requires the scope events:read.');
    }
    const ids =
      'eventIds' in events
        ? events.eventIds
        : (await this.sample.newest(caller.tenantId, null, rule.stored.eventType, events.last)).map(
            ({ eventId }) => eventId,
          );
    return this.rehearseStored(caller, campaignId, rule, ids);
  }

  private async ruleOf(caller: Principal, campaignId: string, reaction: RehearsedReaction): Promise<RehearsedRule> {
    const stored = await this.storedOf(caller, campaignId, reaction);
    const results = new ConditionResults();
    const { eventType, source, condition, operations: ops } = stored;
    const evaluate = condition === null ? undefined : compileCondition(condition, results);
    const names = await this.personal.namesOf(caller.tenantId, eventType);
    const rule: RehearsedRule = {
      stored,
      results,
      names,
      lastVerdict: 'met',
      compiled: {
        reaction: { id: '', campaignId, name: '', source, ops, appliesFrom: new Date(0), backfillId: null },
        condition:
          evaluate === undefined
            ? undefined
            : (event, isOverdue) => {
                results.clear();
                return (rule.lastVerdict = evaluate(event, isOverdue));
              },
        sharedCopies: sharedCopiesOf(ops),
      },
    };
    return rule;
  }

  private async storedOf(caller: Principal, campaignId: string, reaction: RehearsedReaction): Promise<StoredReaction> {
    if ('definition' in reaction) {
      return storedOf(await this.reactions.check(caller, campaignId, reaction.definition, 'reaction'), new Date(0));
    }
    const stored = await this.reactions.get(caller.tenantId, campaignId, reaction.name);
    await this.reactions.assertMayTest(caller, stored);
    return stored;
  }

  private async rehearseUnstored(
    caller: Principal,
    campaignId: string,
    rule: RehearsedRule,
    { event: value, family }: Extract<RehearsedEvents, { event: unknown }>,
  ): Promise<RehearsedEvent> {
    const text = jsonTextOf(value);
    const parsed = await this.parsers.parse(caller.tenantId, { family, value, bytes: text.length, text: () => text });
    if (parsed.refusal !== undefined) return refusedEvent(parsed.refusal);
    const preview = await this.previews.unstored(caller.tenantId, parsed.fields);
    if ('refusal' in preview) return refusedEvent(preview.refusal);
    return this.rehearse(caller, campaignId, rule, preview, new EvaluationTime());
  }

  private async rehearseStored(
    caller: Principal,
    campaignId: string,
    rule: RehearsedRule,
    ids: readonly string[],
  ): Promise<Rehearsal> {
    const startedAt = performance.now();
    const time = new EvaluationTime();
    const items: RehearsedEvent[] = [];
    let bytes = 0;
    for (let from = 0; from < ids.length; from += EVENTS_PER_READ) {
      const read = ids.slice(from, from + EVENTS_PER_READ);
      const previews = await this.previews.stored(caller.tenantId, read);
      const found = new Map(previews.map((preview) => [preview.eventId, preview]));
      for (const id of read) {
        const isUsedUp = performance.now() - startedAt > RUN_MS_MAX || bytes >= PAGE_BYTES_MAX;
        if (isUsedUp) return { items, omitted: ids.length - items.length };
        const preview = found.get(id);
        const item =
          preview === undefined ? unknownEvent(id) : await this.rehearse(caller, campaignId, rule, preview, time);
        items.push(item);
        bytes += bytesOf(item);
      }
    }
    return { items, omitted: 0 };
  }

  private async rehearse(
    caller: Principal,
    campaignId: string,
    rule: RehearsedRule,
    { eventId, toProcess }: PreviewedEvent,
    time: EvaluationTime,
  ): Promise<RehearsedEvent> {
    const other = toProcess === null ? ERASED : misfit(rule.stored, toProcess.event);
    if (other !== undefined || toProcess === null) {
      return { eventId, matched: false, outcome: 'skipped', why: other ?? ERASED, changes: [], faults: [] };
    }
    const record = recordOf(toProcess.event);
    time.beginEvent();
    const plan = time.measure((isOverdue) =>
      planReaction(rule.compiled, toProcess, { record: () => record, isOverdue, personalNames: rule.names }),
    );
    const why = reasonOf(rule, record);
    if (time.isBlockedLong()) await time.release();
    const matched = rule.compiled.condition === undefined || rule.lastVerdict === 'met';
    if (plan === undefined || 'result' in plan) {
      const result: ReactionResult = plan?.result ?? { outcome: 'skipped', reason: 'condition' };
      const faults = result.outcome === 'failed' ? result.faults : [];
      return { eventId, matched, outcome: result.outcome, why, changes: [], faults };
    }
    if (!grants(caller.scopes, 'state:read')) {
      // Whether a value takes the change tells what the value is.
      const changes = plan.operations.map(({ path }) => ({ path }));
      return { eventId, matched, outcome: 'applied', why, changes, faults: [] };
    }
    const owner = { campaignId, appId: DEFAULT_APP_ID, subject: plan.subject ?? '' };
    const preview = await this.states.previewOperations(caller.tenantId, owner, plan.operations);
    if ('faults' in preview) {
      const outcome = preview.isLimitReached === true ? 'skipped' : 'failed';
      return { eventId, matched, outcome, why, changes: [], faults: preview.faults };
    }
    const changes = preview.mutations.map((entry) => shownChange(caller, entry, rule.names));
    return { eventId, matched, outcome: 'applied', why, changes, faults: [] };
  }
}

/** Of an item, and of each of its changes and faults, beside their texts. */
const OTHER_FIELDS_BYTES = 64;

/** About what an item weighs in the answer, counted without writing it as JSON. 100 changes may have 800 KB. */
function bytesOf({ why, changes, faults }: RehearsedEvent): number {
  const parts: readonly object[] = [why, ...changes, ...faults];
  const values = parts.flatMap((part): unknown[] => Object.values(part));
  const otherBytes = (1 + parts.length) * OTHER_FIELDS_BYTES;
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    otherBytes,
  );
}

const ERASED: Reason = {
  path: 'event',
  code: 'profile_erased',
  message: 'The person of the event was erased; no reaction applies to it.',
};

function refusedEvent({ details }: Refusal): RehearsedEvent {
  const why = {
    path: 'event',
    code: 'invalid_event',
    message: 'The event would be refused; faults says why.',
  } as const;
  return { eventId: null, matched: false, outcome: 'skipped', why, changes: [], faults: details };
}

function unknownEvent(eventId: string): RehearsedEvent {
  const why = { path: 'eventIds', code: 'not_found', message: 'There is no event with this id.' } as const;
  return { eventId, matched: false, outcome: 'skipped', why, changes: [], faults: [] };
}

/** Why the reaction is not for this event at all; undefined: it is. */
function misfit(
  { eventType, source, enabled }: StoredReaction,
  event: { readonly eventType: string; readonly source: string },
): Reason | undefined {
  if (!enabled) return { path: 'enabled', code: 'disabled', message: 'The reaction is switched off.' };
  if (event.eventType !== eventType) {
    return { path: 'eventType', code: 'event_type', message: 'The reaction is to events of another type.' };
  }
  if (source === null || event.source === source) return undefined;
  return { path: 'source', code: 'source', message: 'The reaction is to events of another source.' };
}

function reasonOf({ stored: { condition }, results, lastVerdict }: RehearsedRule, record: EventRecord): Reason {
  if (condition !== null) return explainCondition(condition, lastVerdict, results, record);
  const message = 'The reaction has no when, so that every event of its type and source fits.';
  return { path: 'when', code: 'no_condition', message };
}

/** Values as views show them, unless the caller may read personal data; without `state:read`, none. */
function shownChange({ scopes }: Principal, entry: MutationEntry, names: PersonalNames): RehearsedChange {
  const { path, previous, current } = entry;
  if (grants(scopes, 'pii:read')) return entry;
  const name = parseVariablePath(path)?.name ?? path;
  const shown = (value: unknown): unknown =>
    (maskProperties({ [name]: value }, names) as Record<string, unknown>)[name];
  return { path, previous: shown(previous), current: shown(current) } as RehearsedChange;
}
