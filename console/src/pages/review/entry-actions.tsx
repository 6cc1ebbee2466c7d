import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useNamedAction } from '../../design/action';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { formatted } from '../../design/json-editor';
import { Failed } from '../../design/state-views';
import { draftOf, forgetDraft, keepDraft } from '../../shell/drafts';
import { useScope } from '../../shell/session-context';
import { EntryEditor } from './entry-editor';
import { useNote } from './note-field';
import styles from './review.module.css';

type Entry = Schema<'ReviewEntryDto'>;

/** An event that is being corrected. `isMasked`: it hides values, because the key may not see them. */
interface Draft {
  readonly text: string;
  readonly isMasked: boolean;
}

interface EntryActionsProps {
  readonly entry: Entry;
  readonly onReplayed: (outcome: Schema<'ReplayedDto'>['outcome']) => void;
  readonly onDismissed: () => void;
}

/** What can be done about an open entry. */
export function EntryActions({ entry, onReplayed, onDismissed }: EntryActionsProps) {
  const draftName = `review/${entry.id}`;
  const [draft, setDraft] = useState(() => draftOf(draftName) as Draft | undefined);
  const [isAskedFor, setAskedFor] = useState(false);
  const [isDismissing, setDismissing] = useState(false);
  const { busy, error, run } = useNamedAction<'edit' | 'replay'>();
  const mayReplay = useScope('review:write');
  const mayUnmask = useScope('pii:read');
  if (!mayReplay || entry.status !== 'open') return null;
  const edit = () =>
    run('edit', async () => {
      const { payload } = mayUnmask ? await unmasked(entry) : entry;
      const text = typeof payload === 'string' ? payload : formatted(payload ?? {});
      setAskedFor(true);
      setDraft({ text, isMasked: !mayUnmask });
    });
  const replay = () =>
    run('replay', async () => {
      const options = { path: { id: entry.id }, body: {} };
      onReplayed((await api.post('/v1/review-entries/{id}:replay', options)).outcome);
    });
  return (
    <>
      <div className={styles['actions']}>
        {isEditable(entry) && (
          <Button
            kind="primary"
            busy={busy === 'edit'}
            disabled={draft !== undefined || busy === 'replay'}
            onClick={() => void edit()}
          >
            Correct and replay
          </Button>
        )}
        {isReplayable(entry) && (
          <Button busy={busy === 'replay'} disabled={busy === 'edit'} onClick={() => void replay()}>
            Replay as it is
          </Button>
        )}
        <Button onClick={() => setDismissing(true)}>Dismiss</Button>
      </div>
      {error !== undefined && <Failed error={error} />}
      {draft !== undefined && (
        <EntryEditor
          entry={entry}
          {...draft}
          isAskedFor={isAskedFor}
          onChange={(text) => {
            setDraft({ ...draft, text });
            keepDraft(draftName, { ...draft, text });
          }}
          onReplayed={(outcome) => {
            forgetDraft(draftName);
            onReplayed(outcome);
          }}
          onCancel={() => {
            forgetDraft(draftName);
            setDraft(undefined);
          }}
        />
      )}
      <DismissDialog id={entry.id} open={isDismissing} onClose={() => setDismissing(false)} onDismissed={onDismissed} />
    </>
  );
}

/** Recorded by the service, and not kept in the page's cache. */
function unmasked({ id }: Entry): Promise<Entry> {
  return api.get('/v1/review-entries/{id}', { path: { id }, query: { unmask: 'true' } });
}

/** Of a payload that is not shown whole, a correction would send the beginning only. */
function isEditable({ severity, stage, payloadState, payloadTruncated = false }: Entry): boolean {
  return severity === 'error' && stage !== 'processing' && payloadState !== 'not_kept' && !payloadTruncated;
}

/** An entry of processing without an event is about a webhook. */
function isReplayable({ severity, stage, payloadState, eventId }: Entry): boolean {
  return severity === 'error' && (stage === 'processing' ? eventId !== undefined : payloadState === 'whole');
}

interface DismissDialogProps {
  readonly id: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onDismissed: () => void;
}

function DismissDialog({ id, open, onClose, onDismissed }: DismissDialogProps) {
  const { field, body } = useNote('Why it needs no action');
  const dismiss = async (): Promise<void> => {
    await api.post('/v1/review-entries/{id}:dismiss', { path: { id }, body });
    onDismissed();
  };
  return (
    <ConfirmDialog title="Dismiss this entry" action="Dismiss" open={open} onClose={onClose} onConfirm={dismiss}>
      <p>The entry is closed; the event is not stored. If the problem happens again, the entry opens again.</p>
      {field}
    </ConfirmDialog>
  );
}
