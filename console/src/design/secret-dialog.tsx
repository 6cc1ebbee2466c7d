import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Button } from './button';
import { CodeBlock } from './code-block';
import { Dialog, DialogActions } from './dialog';
import { Checkbox } from './field';
import { Notice } from './notice';

/** A key or a secret that the service tells once. */
interface OneTimeSecret {
  readonly title: string;
  /** What it is, after "Copy": "API key". */
  readonly what: string;
  readonly secret: string;
  /** Nobody must keep it secret: a public key that the service does not show again. */
  readonly isPublic?: boolean;
  /** What else to say of it. */
  readonly note?: ReactNode;
  /** After the viewer has said that it is stored. */
  readonly onStored?: () => void;
}

const SECRET =
  'Copy it now and store it where secrets are kept. The service has only what it needs to check it, and can never show it again.';
const PUBLIC = 'Copy it now and give it to the receiver. It is no secret; another one is made when it is rotated.';

/** The first one is shown. */
let secrets: readonly OneTimeSecret[] = [];
const listeners = new Set<() => void>();

function replaceSecrets(next: readonly OneTimeSecret[]): void {
  secrets = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Shows a secret for the only time. It stays until the viewer says that it is stored, also when the page or the session ends
 * before: a key that takes the place of the session's own key ends the session.
 */
export function showSecret(secret: OneTimeSecret): void {
  replaceSecrets([...secrets, secret]);
}

function useShownSecret(): OneTimeSecret | undefined {
  return useSyncExternalStore(subscribe, () => secrets[0]);
}

export function useIsSecretShown(): boolean {
  return useShownSecret() !== undefined;
}

/** The browser asks before the page is loaded again or closed: what it shows would be lost. */
function useAskToLeave(isShown: boolean): void {
  useEffect(() => {
    if (!isShown) return undefined;
    const ask = (leaving: BeforeUnloadEvent): void => leaving.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isShown]);
}

/** Once, beside the pages and not in them. */
export function SecretDialog() {
  const shown = useShownSecret();
  useAskToLeave(shown !== undefined);
  const [isStored, setStored] = useState(false);
  const [isReminded, setReminded] = useState(false);
  const close = (): void => {
    setReminded(!isStored);
    if (!isStored) return;
    setStored(false);
    replaceSecrets(secrets.slice(1));
    shown?.onStored?.();
  };
  return (
    <Dialog title={shown?.title ?? ''} open={shown !== undefined} onClose={close} wide>
      {shown !== undefined && (
        <>
          <SecretText {...shown} />
          <Checkbox
            label={`I have stored the ${shown.what}`}
            checked={isStored}
            onChange={({ target }) => setStored(target.checked)}
          />
          <p role="status">
            {isReminded && !isStored ? `Tick the box when the ${shown.what} is stored, then close.` : ''}
          </p>
        </>
      )}
      <DialogActions>
        <Button kind="primary" disabled={!isStored} onClick={close}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function SecretText({ what, secret, isPublic = false, note }: OneTimeSecret) {
  return (
    <>
      <Notice tone="warning">
        <p>
          <strong>This is shown once.</strong> {isPublic ? PUBLIC : SECRET}
        </p>
      </Notice>
      <CodeBlock code={secret} what={what} />
      {note}
    </>
  );
}
