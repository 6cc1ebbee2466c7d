import { useEffect, useRef } from 'react';
import { Button } from './button';
import { Select, TextField, type SelectOption } from './field';
import styles from './filter-bar.module.css';
import { useFilters } from './filters';
import { localTimeOf, utcOf } from './form-values';

/** A filter of a list. `name` is its name in the address, best that of the API's parameter. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** `time` is chosen in the viewer's zone and stands in UTC in the address. */
  readonly kind: 'text' | 'select' | 'time';
  readonly options?: readonly SelectOption[];
  /** The option that counts while the address has none; without it, there is an option "Any". */
  readonly initial?: string;
  readonly placeholder?: string;
}

const ANY: SelectOption = { value: '', label: 'Any' };

/** Read what it sets by `useFilters` with the same names. The key `/` leads to its first text. */
export function FilterBar({ fields }: { readonly fields: readonly FilterField[] }) {
  const [values, change] = useFilters(fields.map(({ name }) => name));
  const clearable = fields.filter(({ initial }) => initial === undefined).map(({ name }) => name);
  const isFiltered = clearable.some((name) => values[name] !== undefined);
  return (
    <form role="search" className={styles['bar']} onSubmit={(submit) => submit.preventDefault()}>
      {fields.map((field) => (
        <FilterControl
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          onChange={(value) => change({ [field.name]: value })}
        />
      ))}
      {isFiltered && (
        <Button
          onClick={({ currentTarget: { form } }) => {
            change(Object.fromEntries(clearable.map((name) => [name, undefined])));
            // The button goes away with the filters.
            form?.querySelector<HTMLElement>('input, select')?.focus();
          }}
        >
          Clear filters
        </Button>
      )}
    </form>
  );
}

interface FilterControlProps {
  readonly field: FilterField;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterControl({
  field: { label, kind, options = [], initial, placeholder },
  value,
  onChange,
}: FilterControlProps) {
  if (kind === 'select') {
    return (
      <Select
        label={label}
        // The address may hold anything.
        value={options.some((option) => option.value === value) ? value : (initial ?? '')}
        options={initial === undefined ? [ANY, ...options] : options}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  }
  return <WrittenFilter label={label} kind={kind} placeholder={placeholder} value={value} onChange={onChange} />;
}

interface WrittenFilterProps extends Omit<FilterControlProps, 'field'> {
  readonly label: string;
  readonly kind: 'text' | 'time';
  readonly placeholder: string | undefined;
}

/** It counts when it is left, or with Enter. Then it is the same control with the same focus. */
function WrittenFilter({ label, kind, placeholder, value, onChange }: WrittenFilterProps) {
  const control = useRef<HTMLInputElement>(null);
  const shown = kind === 'time' ? localTime(value) : value;
  useEffect(() => {
    if (control.current !== null) control.current.value = shown;
  }, [shown]);
  const commit = (text: string): void => {
    // A field of one line leaves out the line breaks of its value, which nobody has changed then.
    if (text !== shown.replace(/[\r\n]/g, '')) onChange(kind === 'time' ? (utcOf(text) ?? '') : text.trim());
  };
  return (
    <TextField
      ref={control}
      type={kind === 'time' ? 'datetime-local' : 'search'}
      label={label}
      placeholder={placeholder}
      defaultValue={shown}
      onBlur={({ target }) => commit(target.value)}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && commit(currentTarget.value)}
    />
  );
}

/** RFC 3339 in UTC to what a control for local times shows. The address may hold anything. */
function localTime(utc: string): string {
  const at = new Date(utc);
  return Number.isNaN(at.getTime()) ? '' : localTimeOf(at);
}
