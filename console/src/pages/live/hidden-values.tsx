import { Button } from '../../design/button';
import { useFilters } from '../../design/filters';
import { visibleText } from '../../design/visible-text';
import { namesOf, withoutName } from './live-filters';
import styles from './live.module.css';

const LABELS = { excludeSource: 'source', excludeEventType: 'event type', excludeResult: 'result' } as const;
const NAMES = ['excludeSource', 'excludeEventType', 'excludeResult'] as const;

/** What is left out. A click shows it again. */
export function HiddenValues() {
  const [filters, change] = useFilters(NAMES);
  const hidden = NAMES.flatMap((name) => namesOf(filters[name]).map((value) => ({ name, value })));
  if (hidden.length === 0) return null;
  return (
    <ul className={styles['hidden']} aria-label="Hidden">
      {hidden.map(({ name, value }) => (
        <li key={`${name} ${value}`}>
          <Button title="Show again" onClick={() => change({ [name]: withoutName(filters[name], value) })}>
            Not {LABELS[name]} <strong>{visibleText(value)}</strong> ×
          </Button>
        </li>
      ))}
    </ul>
  );
}
