import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, download } from '../../api/api';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { Failed } from '../../design/state-views';
import { showToast } from '../../design/toast';
import { useScope } from '../../shell/session-context';
import styles from './customers.module.css';
import type { Identifier } from './look-up';
import { saveFile } from './save-file';

/** No customer has the identifier: the person may have been erased, or take part in campaigns without any event. */
export function NotFound({ identifier }: { readonly identifier: Identifier }) {
  const client = useQueryClient();
  const mayChange = useScope('profiles:write');
  const mayUnmask = useScope('pii:read');
  const [isLifting, setLifting] = useState(false);
  const [isErasing, setErasing] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const [error, setError] = useState<unknown>();
  const exportPerson = async (): Promise<void> => {
    setExporting(true);
    setError(undefined);
    await download('/v1/cdp/profiles:export', { body: identifier })
      .then((file) => saveFile(file, 'person.ndjson'))
      .catch(setError);
    setExporting(false);
  };
  const lift = async (): Promise<void> => {
    const { status } = await api.post('/v1/cdp/erasures:lift', { body: identifier });
    showToast({ title: LIFTED[status] });
  };
  const erase = async (): Promise<void> => {
    await api.post('/v1/cdp/profiles:erase', { body: identifier });
    showToast({ title: 'The person is erased.' });
    client.removeQueries({ type: 'inactive' });
    await client.invalidateQueries();
  };
  return (
    <section role="status" className={styles['panel']}>
      <h2>No customer has this identifier</h2>
      <p>
        Check its type and spelling. A person who was erased is not found, and neither is a participant of a campaign
        without events.
      </p>
      <div className={styles['actions']}>
        {mayChange && <Button onClick={() => setLifting(true)}>Accept events after an erasure</Button>}
        {mayUnmask && identifier.type === 'EXTERNAL' && (
          <Button busy={isExporting} onClick={() => void exportPerson()}>
            Export participant
          </Button>
        )}
        {mayChange && identifier.type === 'EXTERNAL' && (
          <Button kind="danger" onClick={() => setErasing(true)}>
            Erase participant
          </Button>
        )}
      </div>
      {error !== undefined && <Failed error={error} />}
      <ConfirmDialog
        title="Accept events after an erasure"
        action="Accept events"
        open={isLifting}
        onClose={() => setLifting(false)}
        onConfirm={lift}
      >
        <p>
          If the person with this identifier was erased, events of any of their identifiers are accepted again. Erased
          data stay erased.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        title="Erase the participant"
        action="Erase"
        typed="erase"
        open={isErasing}
        onClose={() => setErasing(false)}
        onConfirm={erase}
      >
        <p>
          Everything stored about the person with this identifier is removed for good, and later events of them are
          refused. This cannot be undone.
        </p>
      </ConfirmDialog>
    </section>
  );
}

const LIFTED = {
  lifted: 'Events of this person are accepted again.',
  not_erased: 'Nobody with this identifier was erased.',
} as const;
