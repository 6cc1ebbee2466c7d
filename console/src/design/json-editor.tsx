import { useId, useRef } from 'react';
import { Button } from './button';
import { inexactNumberFault, inexactNumberIn } from './exact-number';
import styles from './json-editor.module.css';
import { visibleText } from './visible-text';

interface JsonEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly rows?: number;
  /** It has the focus as soon as it is there. */
  readonly autoFocus?: boolean;
}

type ParsedJson = { readonly value: unknown } | { readonly fault: string; readonly isJson: boolean };

/** The value of a text, or why it cannot be sent: it is no JSON, or has a number that would change on the way. */
export function parseJson(text: string): ParsedJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'This is not JSON.', isJson: false };
  }
  const inexact = inexactNumberIn(text);
  if (inexact === undefined) return { value };
  return { fault: `${inexactNumberFault(inexact)} If it is an id, write it as text in quotes.`, isJson: true };
}

/** The value of a text. Throws why it cannot be sent; `what` is its name in that sentence: "The definition". */
export function jsonOf(text: string, what: string): unknown {
  const parsed = parseJson(text);
  if ('value' in parsed) return parsed.value;
  throw new Error(parsed.isJson ? parsed.fault : `${what} is no JSON: ${parsed.fault}`);
}

/** Text with line numbers that says at once whether it is JSON. */
export function JsonEditor({ label, text, onChange, rows = 16, autoFocus = false }: JsonEditorProps) {
  const id = useId();
  const numbers = useRef<HTMLPreElement>(null);
  const parsed = parseJson(text);
  const isFaulty = 'fault' in parsed;
  const lines = text.split('\n').length;
  return (
    <div className={styles['editor']}>
      <div className={styles['head']}>
        <label htmlFor={id}>{label}</label>
        <Button kind="quiet" disabled={isFaulty} onClick={() => 'value' in parsed && onChange(formatted(parsed.value))}>
          Format
        </Button>
      </div>
      <div className={styles['area']}>
        <pre ref={numbers} aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
        </pre>
        <textarea
          id={id}
          value={text}
          rows={rows}
          autoFocus={autoFocus}
          spellCheck={false}
          wrap="off"
          aria-invalid={isFaulty}
          aria-describedby={`${id}-note`}
          onChange={({ target }) => onChange(target.value)}
          onScroll={({ currentTarget }) => numbers.current?.scrollTo({ top: currentTarget.scrollTop })}
        />
      </div>
      <p id={`${id}-note`} role="status" className={isFaulty ? styles['fault'] : styles['note']}>
        {isFaulty ? parsed.fault : 'Valid JSON'}
      </p>
    </div>
  );
}

/** JSON on indented lines. Characters that are not seen are escaped, which keeps the value. */
export function formatted(value: unknown): string {
  return visibleText(JSON.stringify(value, null, 2));
}
