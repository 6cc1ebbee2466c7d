import type { ReactNode } from 'react';
import styles from './layout.module.css';

interface LayoutProps {
  readonly children: ReactNode;
}

/** Buttons or short texts beside each other, on more lines where there is no room. */
export function Inline({ children }: LayoutProps) {
  return <div className={styles['inline']}>{children}</div>;
}

/** Parts below each other. */
export function Stack({ children }: LayoutProps) {
  return <div className={styles['stack']}>{children}</div>;
}

/** A sentence that explains, beside what it is about. */
export function Muted({ children }: LayoutProps) {
  return <p className={styles['muted']}>{children}</p>;
}
