import { useState } from 'react';
import { currentTime } from './clock';
import { TextField } from './field';
import { localTimeOf, utcOf } from './form-values';

/** A time range of receipt that a person chooses: the values of its fields, and the times to send. */
export interface ReceiptRange {
  readonly fields: { readonly from: string; readonly to: string };
  readonly times: { readonly from: string; readonly to: string };
  readonly change: (field: Partial<ReceiptRange['fields']>) => void;
}

const MINUTE_MS = 60_000;

/** A range that ends with this minute, until the person changes it: its fields have no seconds. `from` is called once. */
export function useReceiptRange(from: () => Date): ReceiptRange {
  const [fields, setFields] = useState(() => {
    const endOfMinute = new Date(currentTime().getTime() + MINUTE_MS);
    return { from: localTimeOf(from()), to: localTimeOf(endOfMinute) };
  });
  return {
    fields,
    times: { from: utcOf(fields.from) ?? '', to: utcOf(fields.to) ?? '' },
    change: (field) => setFields((before) => ({ ...before, ...field })),
  };
}

/** The two fields of a range. */
export function ReceiptRangeFields({ range: { fields, change } }: { readonly range: ReceiptRange }) {
  return (
    <>
      <TextField
        label="Received from"
        type="datetime-local"
        required
        value={fields.from}
        onChange={({ target }) => change({ from: target.value })}
        hint="In your time zone."
      />
      <TextField
        label="Received before"
        type="datetime-local"
        required
        value={fields.to}
        onChange={({ target }) => change({ to: target.value })}
        hint="Later than now counts as now."
      />
    </>
  );
}
