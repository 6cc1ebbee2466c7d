import { useState } from 'react';
import type { Schema } from '../../api/api-types';
import { Checkbox, Select, TextField } from '../../design/field';
import { ActionForm, FieldColumns } from '../../design/form';
import { JsonEditor, jsonOf } from '../../design/json-editor';
import { Muted } from '../../design/layout';
import { useScope } from '../../shell/session-context';
import type { Webhook } from './webhook-state';

type Algorithm = Schema<'WebhookAlgorithm'>;

/** What both a new endpoint and a changed one have. */
interface WebhookBody {
  readonly url: string;
  readonly events: Schema<'WebhookRuleDto'>[];
  /** Empty: none. */
  readonly description: string;
  readonly unmask: boolean;
  readonly algorithm: Algorithm;
}

const ALGORITHMS = [
  { value: 'hmac-sha256', label: 'HMAC-SHA256: a shared secret' },
  { value: 'ed25519', label: 'Ed25519: the receiver gets a public key' },
];

interface WebhookFormProps {
  readonly action: string;
  /** The endpoint to change; its algorithm stays. */
  readonly webhook?: Webhook;
  readonly onSubmit: (body: WebhookBody) => Promise<unknown>;
  readonly onCancel: () => void;
}

export function WebhookForm({ action, webhook, onSubmit, onCancel }: WebhookFormProps) {
  const mayUnmask = useScope('pii:read');
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [rules, setRules] = useState(() => JSON.stringify(webhook?.events ?? [{ eventType: 'purchase' }], null, 2));
  const [unmask, setUnmask] = useState(webhook?.unmask ?? false);
  const [algorithm, setAlgorithm] = useState<Algorithm>(webhook?.algorithm ?? 'hmac-sha256');
  const submit = async (): Promise<unknown> =>
    onSubmit({ url: url.trim(), events: rulesOf(rules), description: description.trim(), unmask, algorithm });
  return (
    <ActionForm action={action} onSubmit={submit} onCancel={onCancel}>
      <TextField
        label="Address"
        type="url"
        required
        maxLength={2048}
        value={url}
        onChange={({ target }) => setUrl(target.value)}
        hint="An https URL of a public host, for example https://hooks.example.com/campaigns"
      />
      <FieldColumns>
        <TextField
          label="Description (optional)"
          maxLength={1000}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
          hint="What the endpoint is for."
        />
        {webhook === undefined && (
          <Select
            label="Calls are signed with"
            value={algorithm}
            options={ALGORITHMS}
            onChange={({ target }) => setAlgorithm(target.value as Algorithm)}
          />
        )}
      </FieldColumns>
      <JsonEditor label="Rules: what is sent" rows={8} text={rules} onChange={setRules} />
      <Muted>
        A list of rules. One for events has <code>eventType</code>, and optionally <code>source</code> and{' '}
        <code>when</code> as reactions have it. One for changes of values has{' '}
        <code>{'change: {scope, name, campaignId?}'}</code>. What fits any of them is sent, once.
      </Muted>
      {(mayUnmask || unmask) && (
        <Checkbox
          label="Send identity and personal properties as they are, not masked"
          checked={unmask}
          onChange={({ target }) => setUnmask(target.checked)}
        />
      )}
    </ActionForm>
  );
}

function rulesOf(text: string): Schema<'WebhookRuleDto'>[] {
  return jsonOf(text, 'The list of rules') as Schema<'WebhookRuleDto'>[];
}
