import {
  useId,
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import styles from './field.module.css';

interface FieldProps {
  readonly label: string;
  /** What to write, with an example; below the control. */
  readonly hint?: ReactNode;
  /** Why the value was refused. */
  readonly error?: string | undefined;
}

interface FrameProps extends FieldProps {
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby': string;
    readonly 'aria-invalid': boolean;
  }) => ReactNode;
}

function Frame({ label, hint, error, children }: FrameProps) {
  const id = useId();
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-note`, 'aria-invalid': error !== undefined })}
      <div id={`${id}-note`} className={styles['note']}>
        {error !== undefined && <p className={styles['error']}>{error}</p>}
        {hint !== undefined && <p>{hint}</p>}
      </div>
    </div>
  );
}

/** Without it browsers take years of six digits, which are no time for the API. */
const LATEST_LOCAL_TIME = '9999-12-31T23:59';

/** A line of text with its label. */
export function TextField({ label, hint, error, maxLength, ...input }: FieldProps & ComponentProps<'input'>) {
  const latest = input.type === 'datetime-local' ? { max: LATEST_LOCAL_TIME } : {};
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => (
        <input
          className={styles['control']}
          autoComplete="off"
          spellCheck={false}
          {...latest}
          {...input}
          {...ids}
          {...lengthCheck(maxLength)}
        />
      )}
    </Frame>
  );
}

/** Several lines of text with their label. JSON has an editor of its own: `JsonEditor`. */
export function TextArea({
  label,
  hint,
  error,
  maxLength,
  ...area
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          className={styles['control']}
          rows={4}
          spellCheck={false}
          {...area}
          {...ids}
          {...lengthCheck(maxLength)}
        />
      )}
    </Frame>
  );
}

interface LengthCheck {
  readonly onInput?: (input: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => void;
}

/**
 * What is longer is not sent: the form says why. The browser's own limit would cut what is pasted without a word. Characters
 * are counted as the API does, without space around them, which is not sent.
 */
function lengthCheck(charactersMax: number | undefined): LengthCheck {
  if (charactersMax === undefined) return {};
  return {
    onInput: ({ currentTarget }) => {
      const { length } = Array.from(currentTarget.value.trim());
      const fault = `At most ${charactersMax.toLocaleString()} characters; these are ${length.toLocaleString()}.`;
      currentTarget.setCustomValidity(length > charactersMax ? fault : '');
    },
  };
}

export interface SelectOption {
  readonly value: string;
  readonly label: string;
}

interface SelectProps extends FieldProps, SelectHTMLAttributes<HTMLSelectElement> {
  readonly options: readonly SelectOption[];
}

/** The browser's own list: it works with every keyboard, screen reader and phone. */
export function Select({ label, hint, error, options, ...select }: SelectProps) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => (
        <select className={styles['control']} {...select} {...ids}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

export function Checkbox({ label, ...input }: { readonly label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className={styles['checkbox']}>
      <input type="checkbox" {...input} />
      <span>{label}</span>
    </label>
  );
}
