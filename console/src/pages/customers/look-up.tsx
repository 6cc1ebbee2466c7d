import { useState } from 'react';
import { api } from '../../api/api';
import { ApiError } from '../../api/api-error';
import type { Schema } from '../../api/api-types';
import { useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { Select, TextField } from '../../design/field';
import { Failed } from '../../design/state-views';
import { IDENTIFIER_TYPES } from './identifiers';
import styles from './customers.module.css';
import { NotFound } from './not-found';

export type Identifier = Schema<'IdentityLookupDto'>;

/** Finds a customer by an identifier. It is sent in a body, and stands in no address. */
export function LookUp() {
  const navigate = useLateNavigation();
  const [type, setType] = useState<Identifier['type']>('EMAIL');
  const [value, setValue] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [notFound, setNotFound] = useState<Identifier>();
  const lookUp = async (): Promise<void> => {
    const identifier = { type, value: value.trim() };
    setBusy(true);
    setError(undefined);
    setNotFound(undefined);
    try {
      const { id } = await api.post('/v1/cdp/profiles:lookup', { body: identifier });
      navigate(`/customers/${id}`);
    } catch (failure) {
      setBusy(false);
      if (failure instanceof ApiError && failure.status === 404) setNotFound(identifier);
      else setError(failure);
    }
  };
  return (
    <>
      <form
        role="search"
        className={styles['lookUp']}
        onSubmit={(submit) => {
          submit.preventDefault();
          void lookUp();
        }}
      >
        <Select
          label="Identifier"
          value={type}
          options={IDENTIFIER_TYPES}
          onChange={({ target }) => setType(target.value)}
        />
        <TextField
          label="Value"
          type="search"
          required
          maxLength={256}
          placeholder={EXAMPLES[type]}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
        <Button kind="primary" type="submit" busy={isBusy}>
          Look up
        </Button>
      </form>
      {error !== undefined && <Failed error={error} />}
      {notFound !== undefined && <NotFound key={`${notFound.type} ${notFound.value}`} identifier={notFound} />}
    </>
  );
}

const EXAMPLES: Readonly<Record<Identifier['type'], string>> = {
  EXTERNAL: 'customer-4711',
  EMAIL: 'jane@example.com',
  PHONE: '+4915112345678',
  DEVICE: 'd3adb33f-device',
};
