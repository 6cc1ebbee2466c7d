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
  const [begun] = useState(() => ({
    from: minuteOf(from()),
    to: minuteOf(new Date(currentTime().getTime() + MINUTE_MS)),
  }));
  const [fields, setFields] = useState(() => ({ from: localTimeOf(begun.from), to: localTimeOf(begun.to) }));
  return {
    fields,
    times: { from: timeIn(fields.from, begun.from), to: timeIn(fields.to, begun.to) },
    change: (field) => setFields((before) => ({ ...before, ...field })),
  };
}

function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
}

/** A field that says what it began with means that time: when clocks are set back, an hour of local times comes twice. */
function timeIn(field: string, begun: Date): string {
  return field === localTimeOf(begun) ? begun.toISOString() : (utcOf(field) ?? '');
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
