import { useState } from 'react';
import styles from './copy.module.css';
import { showToast } from './toast';

/** Copies a text. `what` completes the label: "Copy event id". */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // Browsers allow it on https and on this machine only.
      showToast({ title: 'The browser did not allow copying.', description: 'Select the text and copy it by hand.' });
    }
  };
  return (
    <button
      type="button"
      className={styles['button']}
      aria-label={`Copy ${what}`}
      title={isCopied ? 'Copied' : `Copy ${what}`}
      onClick={(click) => {
        click.stopPropagation();
        void copy();
      }}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={isCopied ? 'M3 8.5l3.2 3.2L13 5' : 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z'} />
      </svg>
      <span role="status" className="visually-hidden">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
}
