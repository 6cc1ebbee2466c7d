import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './copy.module.css';
import { CopyButton } from './copy-button';
import { visibleText } from './visible-text';

interface CopyableIdProps {
  readonly id: string;
  /** Completes the label of the button: "Copy event id". */
  readonly what: string;
  /** Where the record is shown. */
  readonly href?: string;
}

/** An id on one line, shortened where there is no room, with a button that copies all of it. */
export function CopyableId({ id, what, href }: CopyableIdProps) {
  const text: ReactNode = <code title={visibleText(id)}>{visibleText(id)}</code>;
  return (
    <span className={styles['id']}>
      {href === undefined ? (
        text
      ) : (
        <Link href={href} onClick={(click) => click.stopPropagation()}>
          {text}
        </Link>
      )}
      <CopyButton text={id} what={what} />
    </span>
  );
}
