import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { CodeBlock } from './code-block';
import { Dialog, DialogActions } from './dialog';
import { Checkbox } from './field';
import { Notice } from './notice';

interface SecretDialogProps {
  readonly title: string;
  /** What it is, after "Copy": "API key". */
  readonly what: string;
  /** Undefined: the dialog is closed. */
  readonly secret: string | undefined;
  readonly onClose: () => void;
  /** Nobody must keep it secret: a public key that the service does not show again. */
  readonly isPublic?: boolean;
  /** What else to say of it. */
  readonly children?: ReactNode;
}

const SECRET =
  'Copy it now and store it where secrets are kept. The service has only what it needs to check it, and can never show it again.';
const PUBLIC = 'Copy it now and give it to the receiver. It is no secret; another one is made when it is rotated.';

/** Shows a secret for the only time. It stays open until the viewer says that the secret is stored. */
export function SecretDialog({ title, what, secret, onClose, isPublic = false, children }: SecretDialogProps) {
  const [isStored, setStored] = useState(false);
  const [isReminded, setReminded] = useState(false);
  const close = (): void => {
    setReminded(!isStored);
    if (!isStored) return;
    setStored(false);
    onClose();
  };
  return (
    <Dialog title={title} open={secret !== undefined} onClose={close} wide>
      <Notice tone="warning">
        <p>
          <strong>This is shown once.</strong> {isPublic ? PUBLIC : SECRET}
        </p>
      </Notice>
      <CodeBlock code={secret ?? ''} what={what} />
      {children}
      <Checkbox
        label={`I have stored the ${what}`}
        checked={isStored}
        onChange={({ target }) => setStored(target.checked)}
      />
      <p role="status">{isReminded && !isStored ? `Tick the box when the ${what} is stored, then close.` : ''}</p>
      <DialogActions>
        <Button kind="primary" disabled={!isStored} onClick={close}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
