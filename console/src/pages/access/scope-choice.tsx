import { Checkbox } from '../../design/field';
import { FieldGroup } from '../../design/form';
import { Muted } from '../../design/layout';
import { useScope, useSession } from '../../shell/session-context';
import styles from './access.module.css';
import { SCOPE_GROUPS, type Scope } from './scopes';

interface ScopeChoiceProps {
  readonly chosen: ReadonlySet<Scope>;
  readonly onChange: (chosen: ReadonlySet<Scope>) => void;
}

/** Check boxes of the scopes that the caller may grant: those of the session's own key. */
export function ScopeChoice({ chosen, onChange }: ScopeChoiceProps) {
  const { scopes } = useSession();
  const isAdmin = useScope('admin');
  const groups = SCOPE_GROUPS.map(({ label, scopes: all }) => {
    return { label, scopes: all.filter(([scope]) => isAdmin || scopes.includes(scope)) };
  }).filter((group) => group.scopes.length > 0);
  const toggle = (scope: Scope, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(scope);
    else next.delete(scope);
    onChange(next);
  };
  return (
    <FieldGroup label="Scopes: what the key may do">
      {isAdmin && (
        <Checkbox
          label={
            <>
              <code>admin</code> everything, also what is added later
            </>
          }
          checked={chosen.has('admin')}
          onChange={({ target }) => onChange(new Set(target.checked ? ['admin'] : []))}
        />
      )}
      <div className={styles['scopes']}>
        {groups.map(({ label, scopes: offered }) => (
          <div key={label} role="group" aria-label={label}>
            <span aria-hidden="true">{label}</span>
            {offered.map(([scope, word]) => (
              <Checkbox
                key={scope}
                label={word}
                title={scope}
                checked={chosen.has(scope)}
                disabled={chosen.has('admin')}
                onChange={({ target }) => toggle(scope, target.checked)}
              />
            ))}
          </div>
        ))}
      </div>
      {!isAdmin && <Muted>You can grant only what your own key may do.</Muted>}
    </FieldGroup>
  );
}
