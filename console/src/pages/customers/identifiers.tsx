import type { Schema } from '../../api/api-types';
import { visibleText } from '../../design/visible-text';
import styles from './customers.module.css';

const LABELS: Readonly<Record<Schema<'IdentifierType'>, string>> = {
  EXTERNAL: 'External',
  EMAIL: 'Email',
  PHONE: 'Phone',
  DEVICE: 'Device',
};

/** The identifiers of a customer as they were read: masked, or not. */
export function Identifiers({ profile: { identifiers } }: { readonly profile: Schema<'ProfileDto'> }) {
  if (identifiers.length === 0) return <span>–</span>;
  return (
    <ul className={styles['identifiers']}>
      {identifiers.map(({ type, value }, index) => (
        <li key={index}>
          <span>{LABELS[type]}</span> <code>{visibleText(value)}</code>
        </li>
      ))}
    </ul>
  );
}

export const IDENTIFIER_TYPES = Object.entries(LABELS).map(([value, label]) => ({ value, label }));
