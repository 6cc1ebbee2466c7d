import type { ReactNode } from 'react';
import { classes } from './classes';
import styles from './notice.module.css';

interface NoticeProps {
  readonly tone?: 'neutral' | 'good' | 'warning';
  readonly children: ReactNode;
}

/** Something to know before going on. It stands where it belongs, and stays. */
export function Notice({ tone = 'neutral', children }: NoticeProps) {
  return <div className={classes(styles['notice'], styles[tone])}>{children}</div>;
}
