import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './copy.module.css';
import { CopyButton } from './copy-button';
import { visibleText } from './visible-text';

/** Of an id, always shown. */
const END_CHARACTERS = 6;
/** Up to this an id is shown whole everywhere. */
const SHORT_CHARACTERS = 12;

interface CopyableIdProps {
  readonly id: string;
  /** Completes the label of the button: "Copy event id". */
  readonly what: string;
  /** Where the record is shown. */
  readonly href?: string;
}

/** An id on one line, shortened where there is no room, with a button that copies all of it. */
export function CopyableId({ id, what, href }: CopyableIdProps) {
  const shown = visibleText(id);
  // Ids of one time begin alike: where there is no room, the middle is left out.
  const characters = Array.from(shown);
  const end = characters.length > SHORT_CHARACTERS ? -END_CHARACTERS : characters.length;
  const text: ReactNode = (
    // Ids that are written from right to left are left out in their middle, too.
    <code title={shown} dir="auto">
      <span>{characters.slice(0, end).join('')}</span>
      {characters.slice(end).join('')}
    </code>
  );
  return (
    <span className={styles['id']}>
      {href === undefined ? (
        text
      ) : (
        <Link href={href} aria-label={shown} onClick={(click) => click.stopPropagation()}>
          {text}
        </Link>
      )}
      <CopyButton text={id} what={what} />
    </span>
  );
}
