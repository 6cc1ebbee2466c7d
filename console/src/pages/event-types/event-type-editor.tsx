import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearch } from 'wouter';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useLateNavigation, useNamedAction } from '../../design/action';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { EventProperties } from '../../design/event-properties';
import { JsonEditor, parseJson } from '../../design/json-editor';
import { Stack } from '../../design/layout';
import { useOverwriteCheck } from '../../design/overwrite';
import { Failed } from '../../design/state-views';
import { showToast } from '../../design/toast';
import { useDraft } from '../../shell/drafts';
import { useScope } from '../../shell/session-context';
import { CheckResult } from './check-result';
import styles from './event-types.module.css';

type Definition = Schema<'RegisterEventTypeDto'>;
type Version = Schema<'EventTypeDto'>;

interface EventTypeEditorProps {
  readonly text: string;
  /** The version that the text begins with. */
  readonly base?: Version | undefined;
  /** Where a draft comes from. */
  readonly note?: string;
}

/** What was checked, so that nothing else is published. */
interface Checked {
  readonly text: string;
  readonly trial: Schema<'EventTypeTrialDto'>;
}

/** A definition as JSON; it is checked against recent events, and then published. */
export function EventTypeEditor({ text: original, base, note }: EventTypeEditorProps) {
  // A draft of an older version would take back what the newer one has changed.
  const { text, write, forget } = useDraft(`event-types/_new?${useSearch()} ${base?.version ?? ''}`, original);
  const [checked, setChecked] = useState<Checked>();
  const action = useNamedAction<'check' | 'publish'>();
  const { busy, error } = action;
  const [isForcing, setForcing] = useState(false);
  const mayWrite = useScope('event-types:write');
  const publishNow = usePublish(base, forget);
  const parsed = parseJson(text);
  const definition = 'value' in parsed && isDefinition(parsed.value) ? parsed.value : undefined;
  const trial = checked?.text === text ? checked.trial : undefined;
  const run = async (what: 'check' | 'publish', work: (body: Definition) => Promise<unknown>): Promise<void> => {
    if (definition === undefined) return;
    await action.run(what, () => work(definition));
  };
  const check = (body: Definition) =>
    api.post('/v1/cdp/event-types:check', { body }).then((result) => setChecked({ text, trial: result }));
  return (
    <>
      {note !== undefined && <DraftNote note={note} />}
      <div className={styles['editor']}>
        <Stack>
          <JsonEditor label="Event type as JSON" text={text} onChange={write} rows={24} />
          <Syntax />
          <div className={styles['actions']}>
            <Button
              disabled={definition === undefined}
              busy={busy === 'check'}
              onClick={() => void run('check', check)}
            >
              Check
            </Button>
            {mayWrite && (
              <Button
                kind="primary"
                disabled={trial === undefined || trial.outcome === 'identical'}
                busy={busy === 'publish'}
                onClick={() => (trial?.outcome === 'breaking' ? setForcing(true) : void run('publish', publishNow))}
              >
                Publish
              </Button>
            )}
          </div>
          {mayWrite && trial === undefined && <NextStep isValid={definition !== undefined} />}
          {error !== undefined && <Failed error={error} />}
        </Stack>
        <Stack>
          {trial !== undefined && <CheckResult trial={trial} />}
          {definition !== undefined && (
            <EventProperties eventType={definition.eventType} properties={shownProperties(definition)} />
          )}
        </Stack>
      </div>
      {definition !== undefined && (
        <ConfirmDialog
          title="Publish a version that breaks events"
          action="Publish"
          typed={definition.eventType}
          open={isForcing}
          onClose={() => setForcing(false)}
          onConfirm={() => publishNow({ ...definition, force: true })}
        >
          <p>
            Events that were valid before are refused from now on. Versions cannot be taken back; publish another one
            instead.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function DraftNote({ note }: { readonly note: string }) {
  return (
    <p role="note" className={styles['note']}>
      <Badge tone="warning">draft</Badge> {note}
    </p>
  );
}

function NextStep({ isValid }: { readonly isValid: boolean }) {
  return (
    <p className={styles['hint']}>
      {isValid
        ? 'Check it first; then it can be published.'
        : 'Write valid JSON with a name as eventType and an object as properties; then it can be checked.'}
    </p>
  );
}

function Syntax() {
  return (
    <p className={styles['hint']}>
      Types: string, number, integer, boolean, timestamp, object, array. A property may also have required, enum,
      format, description, segmentable and pii. additionalProperties is reject or allow.
    </p>
  );
}

/** Publishes a definition and shows the event type. Throws if `base` is no longer the version that it would follow. */
function usePublish(base: Version | undefined, onPublished: () => void): (body: Definition) => Promise<void> {
  const client = useQueryClient();
  const navigate = useLateNavigation();
  const checkOverwrite = useOverwriteCheck(base?.eventType ?? '', base && definitionOf(base));
  return async (body) => {
    if (base?.eventType === body.eventType) await checkOverwrite(base.eventType, () => readCurrent(base.eventType));
    const { eventType, version } = await api.post('/v1/cdp/event-types', { body });
    onPublished();
    await client.invalidateQueries({
      predicate: ({ queryKey: [path] }) => String(path).startsWith('/v1/cdp/event-types'),
    });
    navigate(`/event-types/${eventType}`);
    showToast({ title: `Version ${version} of ${eventType} is published.` });
  };
}

function definitionOf({ version, description, additionalProperties, properties }: Version): object {
  return { version, description, additionalProperties, properties };
}

async function readCurrent(eventType: string): Promise<object | undefined> {
  const { versions } = await api.get('/v1/cdp/event-types/{eventType}', { path: { eventType } });
  return versions[0] && definitionOf(versions[0]);
}

function isDefinition(value: unknown): value is Definition {
  return (
    isObject(value) &&
    typeof value['eventType'] === 'string' &&
    value['eventType'] !== '' &&
    isObject(value['properties'])
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Those that can be shown while the text is being written; the check says what is wrong with the others. */
function shownProperties({ properties }: Definition): Definition['properties'] {
  const entries: readonly [string, unknown][] = Object.entries(properties);
  const fit = entries.filter(([, each]) => isObject(each) && typeof each['type'] === 'string' && hasFitEnum(each));
  return Object.fromEntries(fit) as Definition['properties'];
}

function hasFitEnum({ enum: values }: Readonly<Record<string, unknown>>): boolean {
  return values === undefined || Array.isArray(values);
}
