import { useMemo, useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useNamedAction } from '../../design/action';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { JsonEditor, parseJson } from '../../design/json-editor';
import { Stack } from '../../design/layout';
import { Section } from '../../design/page';
import { Failed } from '../../design/state-views';
import { FaultList } from '../../design/fault-list';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { dryRun, maskedFields, refusalOf, type Verdict } from './correction';
import { DeclaredProperties } from './declared-properties';
import { lineFinder } from './payload-lines';
import styles from './review.module.css';

interface EntryEditorProps {
  readonly entry: Schema<'ReviewEntryDto'>;
  readonly text: string;
  /** Whether the text hides values, because the key may not see them. */
  readonly isMasked: boolean;
  /** Somebody has just asked for it. */
  readonly isAskedFor: boolean;
  readonly onChange: (text: string) => void;
  readonly onReplayed: (outcome: Schema<'ReplayedDto'>['outcome']) => void;
  readonly onCancel: () => void;
}

/** Corrects the payload of an entry: edit, check, replay. Beside it stand the faults and the event type. */
export function EntryEditor(props: EntryEditorProps) {
  const { entry, text, isMasked, isAskedFor, onChange, onReplayed, onCancel } = props;
  const { family } = entry;
  const [rows] = useState(() => Math.min(28, lines(text) + 2));
  const [judged, setJudged] = useState<Judged>();
  const [eventType, setEventType] = useState(entry.eventType);
  const action = useNamedAction<'check' | 'replay'>();
  const { busy, error } = action;
  const mayWrite = useScope(family === 'cdp' ? 'cdp-events:write' : 'external-events:write');
  const parsed = useMemo(() => parseJson(text), [text]);
  const payload = 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined;
  const hidden = isMasked && payload !== undefined ? maskedFields(valueOf(entry.payload), payload) : [];
  const canSend = mayWrite && payload !== undefined;
  const run = async (what: 'check' | 'replay', work: (event: object) => Promise<Verdict | undefined>) => {
    if (payload === undefined) return;
    setEventType(typeof payload['eventType'] === 'string' ? payload['eventType'] : null);
    await action.run(what, async () => {
      const verdict = await work(payload);
      setJudged(verdict && { text, verdict });
    });
  };
  const replay = async (event: object): Promise<Verdict | undefined> => {
    const body = { payload: event as Record<string, unknown> };
    try {
      const { outcome } = await api.post('/v1/review-entries/{id}:replay', { path: { id: entry.id }, body });
      if (outcome.status === 'error') return { kind: 'refused', message: outcome.message, faults: outcome.details };
      onReplayed(outcome);
      return undefined;
    } catch (failure) {
      return refusalOf(failure);
    }
  };
  return (
    <Section title="Correct the event" actions={<Button onClick={onCancel}>Close</Button>}>
      <div className={styles['editor']}>
        <Stack>
          <JsonEditor label="Event as JSON" text={text} onChange={onChange} rows={rows} autoFocus={isAskedFor} />
          {hidden.length > 0 && (
            <p role="status" className={styles['note']}>
              {`Your key may not see personal data (scope pii:read). A replay keeps the stored values of: ${hidden.join(', ')}. `}
              A dry run takes the real values.
            </p>
          )}
          {!mayWrite && (
            <p>Sending it takes the scope {family === 'cdp' ? 'cdp-events:write' : 'external-events:write'}.</p>
          )}
          <div className={styles['actions']}>
            <Button
              // It checks the event as it is written here.
              disabled={!canSend || hidden.length > 0 || busy === 'replay'}
              busy={busy === 'check'}
              onClick={() => void run('check', (event) => dryRun(family, event))}
            >
              Dry run
            </Button>
            <Button
              kind="primary"
              disabled={!canSend || busy === 'check'}
              busy={busy === 'replay'}
              onClick={() => void run('replay', replay)}
            >
              Replay corrected event
            </Button>
          </div>
          {error !== undefined && <Failed error={error} />}
        </Stack>
        <Stack>
          <VerdictView
            title={judged === undefined ? 'Faults' : 'Result'}
            verdict={judged?.verdict ?? { kind: 'refused', message: entry.message, faults: entry.details }}
            payload={payload}
            isOld={judged !== undefined && judged.text !== text}
          />
          {family === 'cdp' && eventType !== null && <DeclaredProperties eventType={eventType} />}
        </Stack>
      </div>
    </Section>
  );
}

/** The answer to a text. */
interface Judged {
  readonly text: string;
  readonly verdict: Verdict;
}

interface VerdictViewProps {
  readonly title: string;
  readonly verdict: Verdict;
  readonly payload: object | undefined;
  /** The text was changed since. */
  readonly isOld: boolean;
}

function VerdictView({ title, verdict, payload, isOld }: VerdictViewProps) {
  const { kind } = verdict;
  const lineOf = useMemo(() => lineFinder(payload), [payload]);
  return (
    <section role="status" aria-label={title} className={styles['outcome']}>
      <h3>
        {title}{' '}
        {isOld ? (
          <Badge>before the last change</Badge>
        ) : (
          <Badge tone={kind === 'refused' ? 'bad' : 'good'}>
            {kind === 'refused' ? 'refused' : `would be ${kind}`}
          </Badge>
        )}
      </h3>
      {isOld && kind !== 'refused' && <p>The event was changed since. Check it again.</p>}
      {verdict.kind === 'refused' && (
        <>
          {verdict.faults.length === 0 && <p>{visibleText(verdict.message)}</p>}
          <FaultList
            faults={verdict.faults}
            lineOf={(path) => (payload === undefined ? undefined : lineOf(path.replace(/^payload(?:\.|(?=\[))/, '')))}
          />
          {verdict.requestId !== undefined && (
            <p className={styles['note']}>
              request_id <CopyableId id={verdict.requestId} what="request id" />
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** What a payload says: one with a number that JSON does not keep comes as its text. */
function valueOf(payload: unknown): unknown {
  if (typeof payload !== 'string') return payload;
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function lines(text: string): number {
  return text.split('\n').length;
}
