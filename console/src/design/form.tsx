import type { ReactNode } from 'react';
import { useAction } from './action';
import { Button } from './button';
import { DialogActions } from './dialog';
import styles from './form.module.css';
import { Failed } from './state-views';

interface ActionFormProps {
  /** The verb on the button: "Create key". */
  readonly action: string;
  /** The form shows the error when it rejects. It clears nothing: the caller closes it, or shows what came of it. */
  readonly onSubmit: () => Promise<unknown>;
  readonly onCancel?: () => void;
  /** `normal` for a form that is a part of a page, beside others; `danger` for what is hard to undo. */
  readonly kind?: 'primary' | 'normal' | 'danger';
  /** What is written so far cannot be sent. */
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

/** Fields, the reason why they were refused, and the buttons that send them. */
export function ActionForm({
  action,
  onSubmit,
  onCancel,
  kind = 'primary',
  disabled = false,
  children,
}: ActionFormProps) {
  const { isBusy, error, run } = useAction();
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        // A dialog inside another form is part of its tree.
        event.stopPropagation();
        event.preventDefault();
        void run(onSubmit);
      }}
    >
      {children}
      {error !== undefined && <Failed error={error} />}
      <DialogActions>
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
        <Button kind={kind} type="submit" busy={isBusy} disabled={disabled}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Short fields beside each other where there is room. */
export function FieldColumns({ children }: { readonly children: ReactNode }) {
  return <div className={styles['columns']}>{children}</div>;
}

/** Controls that belong together, such as check boxes. */
export function FieldGroup({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <fieldset className={styles['group']}>
      <legend>{label}</legend>
      {children}
    </fieldset>
  );
}
