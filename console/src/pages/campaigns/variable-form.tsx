import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Select, TextField } from '../../design/field';
import { ActionForm, FieldColumns } from '../../design/form';
import { given, numberOf, textOf } from '../../design/form-values';
import { useOverwriteCheck } from '../../design/overwrite';
import type { Variable } from './values';

const SCOPES = [
  { value: 'user', label: 'user: each participant has an own value' },
  { value: 'campaign', label: 'campaign: one value for all' },
  { value: 'app', label: 'app: one value for all campaigns of an app' },
];
// A type that is missing here does not compile.
const TYPES = Object.keys({ number: true, string: true, boolean: true } satisfies Record<
  Schema<'VariableType'>,
  true
>).map((value) => ({ value, label: value }));
const PERIODS = [
  { value: '', label: 'never' },
  ...['day', 'week', 'month'].map((value) => ({ value, label: `each ${value}` })),
];

interface VariableFormProps {
  readonly campaignId: string;
  /** The one to change; its scope, name and type stay. */
  readonly variable?: Variable;
  readonly onDefined: () => void;
  readonly onCancel: () => void;
}

export function VariableForm({ campaignId, variable, onDefined, onCancel }: VariableFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(variable));
  const set = (changes: Partial<Fields>): void => setFields({ ...fields, ...changes });
  const isNew = variable === undefined;
  const checkOverwrite = useOverwriteCheck(pathOf(fields), variable);
  const define = async (): Promise<void> => {
    const body = bodyOf(fields, variable);
    const path = { campaign_id: campaignId };
    await checkOverwrite(pathOf(body), async () => {
      const { variables } = await api.get('/v1/campaigns/{campaign_id}/variables', { path });
      return variables.find((each) => pathOf(each) === pathOf(body));
    });
    await api.post('/v1/campaigns/{campaign_id}/variables:define', { path, body });
    onDefined();
  };
  return (
    <ActionForm action={isNew ? 'Define variable' : 'Save'} onSubmit={define} onCancel={onCancel}>
      {isNew && (
        <FieldColumns>
          <Select
            label="Scope"
            value={fields.scope}
            options={SCOPES}
            onChange={({ target }) => set({ scope: target.value as Variable['scope'] })}
          />
          <TextField
            label="Name"
            required
            pattern="[A-Za-z][A-Za-z0-9_]{0,99}"
            title="A letter, then letters, digits and underscores; at most 100."
            value={fields.name}
            onChange={({ target }) => set({ name: target.value })}
          />
          <Select
            label="Type"
            value={fields.type}
            options={TYPES}
            // What was written for another type would be sent although it is not shown.
            onChange={({ target }) => set({ type: target.value as Variable['type'], default: '' })}
            hint="It stays for good."
          />
        </FieldColumns>
      )}
      <ValueFields fields={fields} set={set} />
      <PeriodFields fields={fields} set={set} />
      <TextField
        label="Description (optional)"
        maxLength={1000}
        value={fields.description}
        onChange={({ target }) => set({ description: target.value })}
      />
    </ActionForm>
  );
}

interface PartProps {
  readonly fields: Fields;
  readonly set: (changes: Partial<Fields>) => void;
}

function ValueFields({ fields, set }: PartProps) {
  const isNumber = fields.type === 'number';
  return (
    <FieldColumns>
      {fields.type === 'boolean' ? (
        <Select
          label="Default (optional)"
          value={fields.default}
          options={['', 'true', 'false'].map((value) => ({ value, label: value === '' ? 'none' : value }))}
          onChange={({ target }) => set({ default: target.value })}
        />
      ) : (
        <TextField
          label="Default (optional)"
          type={isNumber ? 'number' : 'text'}
          step="any"
          value={fields.default}
          onChange={({ target }) => set({ default: target.value })}
        />
      )}
      {isNumber && (
        <>
          <TextField
            label="Least value (optional)"
            type="number"
            step="any"
            value={fields.min}
            onChange={({ target }) => set({ min: target.value })}
          />
          <TextField
            label="Greatest value (optional)"
            type="number"
            step="any"
            value={fields.max}
            onChange={({ target }) => set({ max: target.value })}
          />
        </>
      )}
    </FieldColumns>
  );
}

function PeriodFields({ fields, set }: PartProps) {
  return (
    <FieldColumns>
      <Select
        label="Starts again from its default"
        value={fields.every}
        options={PERIODS}
        onChange={({ target }) => set({ every: target.value as Fields['every'] })}
      />
      {fields.every !== '' && (
        <TextField
          label="Time zone"
          required
          value={fields.timezone}
          onChange={({ target }) => set({ timezone: target.value })}
          hint="Where the day begins, for example Europe/Berlin."
        />
      )}
    </FieldColumns>
  );
}

interface Fields {
  readonly scope: Variable['scope'];
  readonly name: string;
  readonly type: Variable['type'];
  readonly default: string;
  readonly min: string;
  readonly max: string;
  /** Empty: never. */
  readonly every: Schema<'PeriodUnit'> | '';
  readonly timezone: string;
  readonly description: string;
}

function fieldsOf(variable: Variable | undefined): Fields {
  return {
    scope: variable?.scope ?? 'user',
    name: variable?.name ?? '',
    type: variable?.type ?? 'number',
    default: textOfValue(variable?.default),
    min: textOfValue(variable?.min),
    max: textOfValue(variable?.max),
    every: variable?.period?.every ?? '',
    timezone: variable?.period?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    description: variable?.description ?? '',
  };
}

function pathOf({ scope, name }: Pick<Variable, 'scope' | 'name'>): string {
  return `${scope}.${name}`;
}

function textOfValue(value: Variable['default']): string {
  return value === undefined ? '' : String(value);
}

/** What is empty is absent: a definition replaces the one before. */
function bodyOf(fields: Fields, variable: Variable | undefined): Schema<'DefineVariableDto'> {
  const isNumber = fields.type === 'number';
  return given({
    scope: fields.scope,
    name: fields.name.trim(),
    type: fields.type,
    default: defaultOf(fields, variable),
    min: isNumber ? numberOf(fields.min) : undefined,
    max: isNumber ? numberOf(fields.max) : undefined,
    period: fields.every === '' ? undefined : { every: fields.every, timezone: fields.timezone.trim() },
    description: textOf(fields.description),
  });
}

/** A control cannot tell the empty text from none: it stays where it is the default. */
function defaultOf({ type, default: text }: Fields, variable: Variable | undefined): Variable['default'] {
  if (text === '') return variable?.default === '' ? '' : undefined;
  return type === 'number' ? numberOf(text) : type === 'boolean' ? text === 'true' : text;
}
