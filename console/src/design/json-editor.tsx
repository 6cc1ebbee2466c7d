import { useId, useRef } from 'react';
import { Button } from './button';
import styles from './json-editor.module.css';
import { visibleText } from './visible-text';

interface JsonEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly rows?: number;
}

type ParsedJson = { readonly value: unknown } | { readonly fault: string };

/** The value of a text, or why it is no JSON. */
export function parseJson(text: string): ParsedJson {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

/** Text with line numbers that says at once whether it is JSON. */
export function JsonEditor({ label, text, onChange, rows = 16 }: JsonEditorProps) {
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
