import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Select, TextArea, TextField } from '../../design/field';
import { ActionForm, FieldColumns } from '../../design/form';
import { linesOf } from '../../design/form-values';
import { JsonEditor, jsonOf } from '../../design/json-editor';
import { Muted } from '../../design/layout';
import { Section } from '../../design/page';
import { useScope } from '../../shell/session-context';
import type { ReactionDefinition } from './reaction-definition';
import { RehearsalResult } from './rehearsal-result';

const KINDS = [
  { value: 'last', label: 'The newest stored events of its type' },
  { value: 'eventIds', label: 'Stored events by their ids' },
  { value: 'event', label: 'An event written here' },
];
const STORED = { last: true, eventIds: true, event: false };
type Kind = keyof typeof STORED;

const AN_EVENT = {
  source: 'shop.orders',
  external_event_id: 'order-4711',
  type: 'purchase',
  identity: { type: 'EXTERNAL', value: 'customer-4711' },
  attributes: { amount: 29.33 },
};

interface RehearsalSectionProps {
  readonly campaignId: string;
  /** What is rehearsed: a stored reaction, or a definition. It may throw. */
  readonly subject: () => { readonly name: string } | { readonly reaction: ReactionDefinition };
}

/** Shows what a reaction would do, and why. Nothing is written. */
export function RehearsalSection({ campaignId, subject }: RehearsalSectionProps) {
  const mayReadEvents = useScope('events:read');
  const kinds = KINDS.filter(({ value }) => mayReadEvents || !STORED[value as Kind]);
  const [kind, setKind] = useState<Kind>(mayReadEvents ? 'last' : 'event');
  const [last, setLast] = useState('20');
  const [ids, setIds] = useState('');
  const [event, setEvent] = useState(() => JSON.stringify(AN_EVENT, null, 2));
  const [rehearsal, setRehearsal] = useState<Schema<'RehearsalDto'>>();
  const test = async (): Promise<void> => {
    setRehearsal(undefined);
    const events =
      kind === 'last'
        ? { last: Number(last) }
        : kind === 'eventIds'
          ? { eventIds: linesOf(ids) ?? [] }
          : { event: jsonOf(event, 'The event') as Record<string, unknown> };
    const options = { path: { campaign_id: campaignId }, body: { ...subject(), ...events } };
    setRehearsal(await api.post('/v1/campaigns/{campaign_id}/reactions:test', options));
  };
  return (
    <Section title="Test">
      <Muted>Each event by itself, against the values of now. Nothing is written.</Muted>
      <ActionForm action="Test" kind="normal" onSubmit={test}>
        <FieldColumns>
          <Select
            label="Test with"
            value={kind}
            options={kinds}
            onChange={({ target }) => setKind(target.value as Kind)}
          />
          {kind === 'last' && (
            <TextField
              label="How many"
              type="number"
              required
              min={1}
              max={1000}
              value={last}
              onChange={({ target }) => setLast(target.value)}
            />
          )}
        </FieldColumns>
        {kind === 'eventIds' && (
          <TextArea
            label="Event ids"
            required
            value={ids}
            onChange={({ target }) => setIds(target.value)}
            hint="One on each line, at most 100."
          />
        )}
        {kind === 'event' && <JsonEditor label="Event" rows={10} text={event} onChange={setEvent} />}
      </ActionForm>
      {rehearsal !== undefined && <RehearsalResult rehearsal={rehearsal} />}
    </Section>
  );
}
