import type { ButtonHTMLAttributes, MouseEvent } from 'react';
import styles from './button.module.css';
import { classes } from './classes';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` for the one main action of a page or dialog, `danger` for what cannot be undone, `quiet` inside tables. */
  readonly kind?: 'normal' | 'primary' | 'danger' | 'quiet';
  /** Shows that the action is under way, and takes no second click. */
  readonly busy?: boolean;
}

export function Button({ kind = 'normal', busy = false, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      // A disabled button loses the focus, and a dialog that it opens could not give it back.
      onClick={busy ? ignore : onClick}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      className={classes(styles['button'], styles[kind], className)}
    />
  );
}

function ignore(click: MouseEvent): void {
  click.preventDefault();
}
