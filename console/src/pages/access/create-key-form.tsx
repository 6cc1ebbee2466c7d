import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { hasScope } from '../../api/session';
import { Select, TextArea, TextField } from '../../design/field';
import { ActionForm, FieldColumns } from '../../design/form';
import { given, linesOf, utcOf } from '../../design/form-values';
import { useSession } from '../../shell/session-context';
import { ScopeChoice } from './scope-choice';
import type { Scope } from './scopes';

export type ApiKey = Schema<'ApiKeyDto'>;
export type IssuedApiKey = Schema<'IssuedApiKeyDto'>;

const AT_A_TIME = 'at';
const DAYS = [1, 7, 30, 90, 180, 366];
const LIFETIMES = [
  ...DAYS.map((days) => ({ value: `${days}`, label: `in ${days} ${days === 1 ? 'day' : 'days'}` })),
  { value: AT_A_TIME, label: 'at a time of your choice' },
];

interface CreateKeyFormProps {
  /** A key whose name, scopes and sources the new one begins with, as far as the session may grant them. */
  readonly like?: ApiKey | undefined;
  readonly onCreated: (issued: IssuedApiKey) => void;
  readonly onCancel: () => void;
}

export function CreateKeyForm({ like, onCreated, onCancel }: CreateKeyFormProps) {
  const [name, setName] = useState(like?.name ?? '');
  const session = useSession();
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(
    () => new Set(like?.scopes.filter((scope) => hasScope(session, scope))),
  );
  const [sources, setSources] = useState(like?.sources?.join('\n') ?? '');
  const [lifetime, setLifetime] = useState('90');
  const [expiresAt, setExpiresAt] = useState('');
  const isDated = lifetime === AT_A_TIME;
  const create = async (): Promise<void> => {
    const body = given({
      name: name.trim(),
      scopes: [...scopes],
      sources: linesOf(sources),
      expiresAt: isDated ? utcOf(expiresAt) : undefined,
      expiresInDays: isDated ? undefined : Number(lifetime),
    });
    onCreated(await api.post('/v1/api-keys', { body }));
  };
  return (
    <ActionForm action="Create key" onSubmit={create} onCancel={onCancel} disabled={scopes.size === 0}>
      <TextField
        label="Name"
        required
        maxLength={128}
        value={name}
        onChange={({ target }) => setName(target.value)}
        hint="What the key is for, for example “web shop”. One key for each system, so that one can end alone."
      />
      <ScopeChoice chosen={scopes} onChange={setScopes} />
      <TextArea
        label="Sources (optional)"
        rows={2}
        value={sources}
        onChange={({ target }) => setSources(target.value)}
        hint="The event sources that the key may send, one on each line. Without any, it may send all."
      />
      <FieldColumns>
        <Select
          label="Expires"
          value={lifetime}
          options={LIFETIMES}
          onChange={({ target }) => setLifetime(target.value)}
          hint="No later than the key that creates it."
        />
        {isDated && (
          <TextField
            label="Expires at"
            type="datetime-local"
            required
            value={expiresAt}
            onChange={({ target }) => setExpiresAt(target.value)}
            hint="In your time zone, at most 366 days ahead."
          />
        )}
      </FieldColumns>
    </ActionForm>
  );
}
