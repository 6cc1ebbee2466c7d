import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './page.module.css';

interface SectionProps {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

interface PageProps extends SectionProps {
  /** The list that the page is a part of. */
  readonly back?: { readonly href: string; readonly label: string };
}

/** The frame of a page: its title, in the browser's tab too, and its parts one below the other. */
export function Page({ title, back, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Campaign Data Service`;
  }, [title]);
  return (
    <div className={styles['page']}>
      {back !== undefined && (
        <Link href={back.href} className={styles['back']}>
          {back.label}
        </Link>
      )}
      <header className={styles['head']}>
        <h1>{title}</h1>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a title of its own. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <section className={styles['section']} aria-label={title}>
      <header className={styles['head']}>
        <h2>{title}</h2>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Names and values of a record, in two columns where there is room. */
export function Properties({ entries }: { readonly entries: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles['properties']}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
