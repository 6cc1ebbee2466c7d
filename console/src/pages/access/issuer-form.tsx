import { useState } from 'react';
import { Checkbox, Select, TextArea, TextField } from '../../design/field';
import { ActionForm, FieldColumns, FieldGroup } from '../../design/form';
import { JsonEditor } from '../../design/json-editor';
import styles from './access.module.css';
import { ALGORITHMS, type IssuerFields, type JwtIssuer } from './issuer-fields';

const KEY_SOURCES = [
  { value: 'jwksUri', label: 'It publishes them at an address (JWKS)' },
  { value: 'jwks', label: 'Public keys, written here (JWKS)' },
  { value: 'secret', label: 'A shared secret (HS256)' },
];

interface IssuerFormProps {
  readonly action: string;
  readonly initial: IssuerFields;
  /** The registration that is changed: its issuer and audience stay, and so does its secret if none is written. */
  readonly changes?: JwtIssuer;
  readonly onSubmit: (fields: IssuerFields) => Promise<unknown>;
  readonly onCancel: () => void;
}

export function IssuerForm({ action, initial, changes, onSubmit, onCancel }: IssuerFormProps) {
  const [fields, setFields] = useState(initial);
  const set = (changes: Partial<IssuerFields>): void => setFields({ ...fields, ...changes });
  return (
    <ActionForm action={action} onSubmit={async () => onSubmit(fields)} onCancel={onCancel}>
      {changes === undefined && <PairFields fields={fields} set={set} />}
      <KeyFields fields={fields} set={set} hasSecret={changes?.keySource === 'secret'} />
      <CampaignFields fields={fields} set={set} />
      <TextField
        label="Clock tolerance in seconds (optional)"
        type="number"
        min={0}
        max={300}
        value={fields.clockToleranceSeconds}
        onChange={({ target }) => set({ clockToleranceSeconds: target.value })}
        hint="How far its clock may be ahead or behind; 5 if empty."
      />
    </ActionForm>
  );
}

interface PartProps {
  readonly fields: IssuerFields;
  readonly set: (changes: Partial<IssuerFields>) => void;
}

function PairFields({ fields, set }: PartProps) {
  return (
    <FieldColumns>
      <TextField
        label="Issuer"
        required
        maxLength={512}
        value={fields.issuer}
        onChange={({ target }) => set({ issuer: target.value })}
        hint="The exact iss of its tokens."
      />
      <TextField
        label="Audience"
        required
        maxLength={512}
        value={fields.audience}
        onChange={({ target }) => set({ audience: target.value })}
        hint="The aud of its tokens, or one of them."
      />
    </FieldColumns>
  );
}

function KeyFields({ fields, set, hasSecret }: PartProps & { readonly hasSecret: boolean }) {
  const { keySource } = fields;
  return (
    <>
      <Select
        label="Keys that verify its tokens"
        value={keySource}
        options={KEY_SOURCES}
        onChange={({ target }) => set({ keySource: target.value as IssuerFields['keySource'] })}
      />
      {keySource === 'jwksUri' && (
        <TextField
          label="Address of its keys"
          type="url"
          required
          value={fields.jwksUri}
          onChange={({ target }) => set({ jwksUri: target.value })}
          hint="https and a public address, for example https://login.example.com/.well-known/jwks.json"
        />
      )}
      {keySource === 'jwks' && (
        <JsonEditor label="Key set" rows={10} text={fields.jwks} onChange={(jwks) => set({ jwks })} />
      )}
      {keySource === 'secret' && (
        <TextField
          label={hasSecret ? 'New secret (optional)' : 'Secret'}
          type="password"
          // Else browsers fill in the key that they have stored for the sign-in, and it would replace the secret.
          autoComplete="new-password"
          required={!hasSecret}
          minLength={32}
          value={fields.secret}
          onChange={({ target }) => set({ secret: target.value })}
          hint={`32 to 1,024 bytes. It is stored encrypted and never shown again.${hasSecret ? ' If empty, the stored one stays.' : ''}`}
        />
      )}
      {keySource !== 'secret' && <AlgorithmFields fields={fields} set={set} />}
    </>
  );
}

function AlgorithmFields({ fields, set }: PartProps) {
  return (
    <FieldGroup label="Algorithms">
      <div className={styles['choices']}>
        {ALGORITHMS.map((name) => (
          <Checkbox
            key={name}
            label={name}
            checked={fields.algorithms.includes(name)}
            onChange={({ target }) => {
              const others = fields.algorithms.filter((each) => each !== name);
              set({ algorithms: target.checked ? [...others, name] : others });
            }}
          />
        ))}
      </div>
    </FieldGroup>
  );
}

function CampaignFields({ fields, set }: PartProps) {
  return (
    <>
      <FieldColumns>
        <TextField
          label="Default campaign (optional)"
          value={fields.defaultCampaignId}
          onChange={({ target }) => set({ defaultCampaignId: target.value })}
          hint="For requests that name none."
        />
        <TextField
          label="Claim that names the campaign (optional)"
          value={fields.campaignClaim}
          onChange={({ target }) => set({ campaignClaim: target.value })}
          hint="campaign_id if empty."
        />
        <TextField
          label="Claim that names the app (optional)"
          value={fields.appClaim}
          onChange={({ target }) => set({ appClaim: target.value })}
          hint="app_id if empty."
        />
      </FieldColumns>
      <TextArea
        label="Allowed campaigns (optional)"
        rows={2}
        value={fields.allowedCampaignIds}
        onChange={({ target }) => set({ allowedCampaignIds: target.value })}
        hint="One on each line, for tokens that name no campaign. Without any: every campaign of the workspace."
      />
    </>
  );
}
