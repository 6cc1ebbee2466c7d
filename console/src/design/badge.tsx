import type { ReactNode } from 'react';
import styles from './badge.module.css';
import { classes } from './classes';

export type Tone = 'neutral' | 'good' | 'warning' | 'bad' | 'accent';

/** A state in one word. The word says it; the colour only repeats it. */
export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={classes(styles['badge'], styles[tone])}>{children}</span>;
}
