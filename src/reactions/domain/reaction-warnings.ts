import type { CatalogedEventType } from '../../ingest/event-type-catalog';
import { didYouMean, itemPath, shownName } from '../../platform/errors/fault-words';
import { similarName } from '../../platform/values/text/similar-name';
import { compileCondition } from './compile-condition';
import type { Condition } from './condition';
import { readsOf } from './condition-reads';
import { IDENTITY_FIELDS, RECORD_BRANCHES, RECORD_FIELDS, recordSteps, suggestedPath } from './event-record';
import type { ReactionDefinition } from './reaction';

/** Enough for a reader; each one costs a search for a similar name. */
export const REACTION_WARNINGS_MAX = 50;

/** Every word that `warnings[].code` can carry, with its meaning; `docs/errors.md` lists the same words. */
export const REACTION_WARNING_CODES = {
  unknown_event_type: 'No event type of this name is registered, and no event of it was found.',
  unknown_path: 'Events have nothing at this path; it is always absent.',
  unknown_property: 'The registered event type does not declare this property, and rejects others.',
  never_met: 'The condition reads nothing of the event and is never met.',
} as const satisfies Record<string, string>;

export type ReactionWarningCode = keyof typeof REACTION_WARNING_CODES;

/** A part of a definition that can never have an effect (contract section 8); the reaction is defined all the same. */
export interface ReactionWarning {
  /** The field in the body: `eventType`, `when[">="][0].var`, `ops[0].valueFrom`. */
  readonly path: string;
  readonly code: ReactionWarningCode;
  /** Repeats names from the definition, never other values. */
  readonly message: string;
}

/**
 * What is known about the event type of a definition. If it is not registered: whether an event was received, and other
 * names.
 */
export type EventTypeFacts =
  | { readonly registered: CatalogedEventType }
  | { readonly registered: undefined; readonly wasReceived: boolean; readonly names: readonly string[] };

/** A field of the definition that reads a path of the record. */
interface Read {
  readonly path: string;
  readonly reads: string;
}

/**
 * The parts of a definition that can never have an effect; at most `REACTION_WARNINGS_MAX`, in the order of the body.
 */
export function reactionWarnings(
  { eventType, when, ops }: Pick<ReactionDefinition, 'eventType' | 'when' | 'ops'>,
  facts: EventTypeFacts,
): readonly ReactionWarning[] {
  const warnings: ReactionWarning[] = [...eventTypeWarnings(eventType, facts)];
  const reads: Read[] = when === undefined ? [] : outerReads(when);
  if (when !== undefined && isConstant(when) && isNeverMet(when)) warnings.push(NEVER_MET);
  ops.forEach((op, index) => {
    if ('valueFrom' in op) reads.push({ path: `${itemPath('ops', index)}.valueFrom`, reads: op.valueFrom });
  });
  for (const read of reads) {
    if (warnings.length >= REACTION_WARNINGS_MAX) break;
    warnings.push(...pathWarnings(read, facts.registered));
  }
  return warnings;
}

function eventTypeWarnings(eventType: string, facts: EventTypeFacts): readonly ReactionWarning[] {
  if (facts.registered !== undefined || facts.wasReceived) return [];
  const meant = didYouMean(similarName(eventType, facts.names));
  const message = `eventType names ${shownName(eventType)}: no such event type is registered, and none of the newest events is of it.${meant}`;
  return [{ path: 'eventType', code: 'unknown_event_type', message }];
}

/** Reads whose path is literal and starts at the event. */
function outerReads(when: Condition): Read[] {
  return readsOf(when).flatMap(({ path, reads, inEntry }) =>
    inEntry || reads === undefined || reads === '' ? [] : [{ path, reads }],
  );
}

function pathWarnings({ path, reads }: Read, type: CatalogedEventType | undefined): readonly ReactionWarning[] {
  if (reads === 'event') return [];
  const steps = recordSteps(reads);
  const [field = '', name] = steps;
  const isKnown = RECORD_FIELDS.some((each) => each === field);
  if (!isKnown) return [unknownPath(path, reads, suggestionFor(steps, type))];
  if (name === undefined) return [];
  if (!RECORD_BRANCHES.has(field)) return [unknownPath(path, reads, field)];
  if (field === 'identity') {
    const isIdentity = steps.length === 2 && IDENTITY_FIELDS.some((each) => each === name);
    return isIdentity ? [] : [unknownPath(path, reads, suggestedPath(steps))];
  }
  return type === undefined || type.allowsOthers || type.properties.includes(name)
    ? []
    : [unknownProperty(path, reads, steps, type)];
}

/** A declared property comes first, then a similar path; otherwise a property of that name was probably meant. */
function suggestionFor(steps: readonly string[], type: CatalogedEventType | undefined): string {
  const [first = '', ...below] = steps;
  const declared = type?.properties.includes(first) === true;
  const close = declared ? undefined : (suggestedPath(steps) ?? similarProperty(steps, type));
  return close ?? ['properties', first, ...below].join('.');
}

function similarProperty([first = '', ...below]: readonly string[], type: CatalogedEventType | undefined) {
  const name = similarName(first, type?.properties ?? []);
  return name === undefined ? undefined : ['properties', name, ...below].join('.');
}

function unknownPath(path: string, reads: string, meant: string | undefined): ReactionWarning {
  const message = `${path} reads ${shownName(reads)}, which no event has; it is always absent.${didYouMean(spelledAs(path, meant))}`;
  return { path, code: 'unknown_path', message };
}

function unknownProperty(
  path: string,
  reads: string,
  steps: readonly string[],
  type: CatalogedEventType,
): ReactionWarning {
  const meant = didYouMean(spelledAs(path, similarProperty(steps.slice(1), type)));
  const message = `${path} reads ${shownName(reads)}, a property that version ${type.version} of the event type does not declare; it rejects others, so that only an external event could have it.${meant}`;
  return { path, code: 'unknown_property', message };
}

/** Conditions usually write `event.`, and `valueFrom` does not; both accept either spelling. */
function spelledAs(path: string, meant: string | undefined): string | undefined {
  return meant === undefined || path.startsWith('ops') ? meant : `event.${meant}`;
}

/** Whether the outcome is the same for every event. */
function isConstant(when: Condition): boolean {
  return readsOf(when).every(({ inEntry, reads }) => inEntry && reads !== undefined);
}

/** For a constant condition. One that cannot be evaluated makes the reaction fail with every event. */
function isNeverMet(when: Condition): boolean {
  const verdict = compileCondition(when)({});
  return verdict === 'unmet' || verdict === 'failed';
}

const NEVER_MET: ReactionWarning = {
  path: 'when',
  code: 'never_met',
  message:
    'when reads nothing of the event and is never met, so the reaction has no effect; compare a value of the event, or remove when.',
};
