import { useState, type ReactNode } from 'react';
import { TextArea } from '../../design/field';

interface NoteField {
  readonly field: ReactNode;
  /** As the API takes it; without a note, nothing. */
  readonly body: { readonly note?: string };
}

/** The note of a dismissal: its field, and what is sent. */
export function useNote(label: string): NoteField {
  const [text, setText] = useState('');
  const note = text.trim();
  return {
    field: (
      <TextArea
        label={label}
        hint="At most 1,000 characters. May be left out."
        maxLength={1000}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    ),
    body: note === '' ? {} : { note },
  };
}
