import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { OPEN_DIALOG } from './page-focus';
import { ROUTES } from './routes';
import styles from './shell.module.css';

/** How long after `g` the second key counts. */
const SECOND_KEY_MS = 1_500;

const LIST: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'Search or filter this page'],
  ['?', 'Show this list'],
  ...ROUTES.map(({ key, label }) => [`g ${key}`, `Go to ${label}`] as const),
];

/** Listens for the keys of the whole console, and lists them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const [, navigate] = useLocation();
  useEffect(() => {
    let goPressedAt = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isBusyWithKeys(event)) return;
      const route = ROUTES.find(({ key }) => key === event.key);
      const isSecond = event.timeStamp - goPressedAt < SECOND_KEY_MS;
      goPressedAt = event.key === 'g' ? event.timeStamp : -Infinity;
      if (isSecond && route !== undefined) navigate(route.path);
      else if (event.key === '?') setOpen(true);
      else if (event.key !== '/' || !focusSearch()) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
  return (
    <>
      <Button kind="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" onClick={() => setOpen(true)}>
        ?
      </Button>
      <Dialog title="Keyboard shortcuts" open={isOpen} onClose={() => setOpen(false)}>
        <dl className={styles['shortcuts']}>
          {LIST.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </Dialog>
    </>
  );
}

/** Keys belong to what is being written, and to an open dialog. */
function isBusyWithKeys({ target }: KeyboardEvent): boolean {
  const isWriting = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
  return isWriting || document.querySelector(OPEN_DIALOG) !== null;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>('main [data-search], main input[type="search"]');
  search?.focus();
  return search !== null;
}
