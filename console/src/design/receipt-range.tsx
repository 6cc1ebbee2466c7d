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

/** A range that ends now, until the person changes it. `from` is called once. */
export function useReceiptRange(from: () => Date): ReceiptRange {
  const [fields, setFields] = useState(() => ({ from: localTimeOf(from()), to: localTimeOf(currentTime()) }));
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
