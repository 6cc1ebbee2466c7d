import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useAction } from './action';
import { Button } from './button';
import { classes } from './classes';
import styles from './dialog.module.css';
import { TextField } from './field';
import { Failed } from './state-views';

interface DialogProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** For JSON, tables and other wide content. */
  readonly wide?: boolean;
}

/**
 * It keeps the focus inside, closes with Escape, and gives the focus back. Its content begins anew each time. A press beside it
 * closes it, too, but not when something was written in it.
 */
export function Dialog({ title, open, onClose, children, wide = false }: DialogProps) {
  const isWritten = useRef(false);
  useEffect(() => {
    isWritten.current = false;
  }, [open]);
  return (
    <BaseDialog.Root
      open={open}
      onOpenChange={(isOpen, { reason }) => {
        if (!isOpen && !(reason === 'outside-press' && isWritten.current)) onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles['backdrop']} />
        <BaseDialog.Popup
          className={classes(styles['popup'], wide && styles['wide'])}
          onInput={() => {
            isWritten.current = true;
          }}
        >
          <div className={styles['head']}>
            <BaseDialog.Title>{title}</BaseDialog.Title>
            <BaseDialog.Close className={styles['close']} aria-label="Close dialog">
              ×
            </BaseDialog.Close>
          </div>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles['actions']}>{children}</div>;
}

interface ConfirmDialogProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  /** What happens, to how much, and whether it can be undone. */
  readonly children: ReactNode;
  /** The verb on the button: "Revoke key". */
  readonly action: string;
  /** For what cannot be undone: the button works only after this was typed. */
  readonly typed?: string;
  /** The dialog closes when it resolves; it stays and shows the error when it rejects. */
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks before an action that is hard to undo. */
export function ConfirmDialog({ title, open, onClose, ...content }: ConfirmDialogProps) {
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <Confirmation onClose={onClose} {...content} />
    </Dialog>
  );
}

function Confirmation(props: Omit<ConfirmDialogProps, 'title' | 'open'>) {
  const { children, action, typed, onConfirm, onClose } = props;
  const [text, setText] = useState('');
  const { isBusy, error, run } = useAction();
  return (
    <form
      className={styles['body']}
      onSubmit={(submit) => {
        submit.preventDefault();
        void run(onConfirm, onClose);
      }}
    >
      <div>{children}</div>
      {typed !== undefined && (
        <TextField label={`Type ${typed} to confirm`} value={text} onChange={({ target }) => setText(target.value)} />
      )}
      {error !== undefined && <Failed error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" type="submit" busy={isBusy} disabled={typed !== undefined && text !== typed}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
