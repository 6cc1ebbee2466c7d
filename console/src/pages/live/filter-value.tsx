import type { ReactNode } from 'react';
import { useFilters } from '../../design/filters';
import { visibleText } from '../../design/visible-text';
import { EXCLUDE_NAMES, LIVE_FILTERS, withName, type LiveField } from './live-filters';
import styles from './live.module.css';

interface FilterValueProps {
  readonly field: LiveField;
  readonly value: string | null;
  readonly children?: ReactNode;
}

/** A value of a row: a click shows only events that have it, and the button beside it leaves them out. */
export function FilterValue({ field, value, children }: FilterValueProps) {
  const [filters, change] = useFilters(LIVE_FILTERS);
  const excludeName = EXCLUDE_NAMES[field];
  if (value === null) return <span className={styles['unknown']}>not readable</span>;
  const text = visibleText(value);
  // The names of a filter are separated by commas.
  if (value.includes(',')) return text;
  return (
    <span className={styles['value']}>
      <button type="button" title={`Show only ${text}`} onClick={() => change({ [field]: value })}>
        {children ?? text}
      </button>
      {excludeName !== undefined && (
        <button
          type="button"
          className={styles['hide']}
          aria-label={`Hide ${text}`}
          title={`Hide ${text}`}
          onClick={() => change({ [excludeName]: withName(filters[excludeName], value) })}
        >
          −
        </button>
      )}
    </span>
  );
}
