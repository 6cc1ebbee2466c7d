import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, download } from '../../api/api';
import { forgetRecords } from '../../api/queries';
import { useAction, useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { ConfirmDialog, Dialog, DialogActions } from '../../design/dialog';
import { Failed } from '../../design/state-views';
import { showToast } from '../../design/toast';
import { useScope } from '../../shell/session-context';
import { saveFile } from './save-file';

/** How much of an id is typed to confirm: enough to look at it. */
const TYPED_CHARACTERS = 8;

/** Export and erasure of a customer, for those who may. */
export function CustomerActions({ id }: { readonly id: string }) {
  const [asking, setAsking] = useState<'export' | 'erase'>();
  const mayExport = useScope('pii:read');
  const mayErase = useScope('profiles:write');
  const close = (): void => setAsking(undefined);
  return (
    <>
      {mayExport && <Button onClick={() => setAsking('export')}>Export</Button>}
      {mayErase && (
        <Button kind="danger" onClick={() => setAsking('erase')}>
          Erase
        </Button>
      )}
      <Dialog title="Export the customer" open={asking === 'export'} onClose={close}>
        <ExportForm id={id} onDone={close} />
      </Dialog>
      <EraseDialog id={id} open={asking === 'erase'} onClose={close} />
    </>
  );
}

function ExportForm({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const { isBusy, error, run } = useAction();
  const save = async (): Promise<void> => {
    let file: Blob | undefined;
    const read = async (): Promise<void> => {
      file = await download('/v1/cdp/profiles/{id}:export', { path: { id }, body: {} });
    };
    // Not after "Cancel": it has everything about the person.
    await run(read, () => {
      if (file !== undefined) saveFile(file, `customer-${id}.ndjson`);
      onDone();
    });
  };
  return (
    <>
      <p>
        A file with everything that is stored about this person, unmasked, one JSON record on each line: identifiers,
        events, merges, review entries, state of campaigns. The service records the export.
      </p>
      {error !== undefined && <Failed error={error} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button kind="primary" busy={isBusy} onClick={() => void save()}>
          Download export
        </Button>
      </DialogActions>
    </>
  );
}

interface EraseDialogProps {
  readonly id: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

function EraseDialog({ id, open, onClose }: EraseDialogProps) {
  const client = useQueryClient();
  const navigate = useLateNavigation();
  const erase = async (): Promise<void> => {
    await api.post('/v1/cdp/profiles/{id}:erase', { path: { id }, body: {} });
    navigate('/customers');
    showToast({ title: 'The customer is erased.' });
    // Nothing of the person stays in this page. The way back leads to an empty one.
    forgetRecords(client);
  };
  return (
    <ConfirmDialog
      title="Erase the customer for good"
      action="Erase customer"
      typed={id.slice(-TYPED_CHARACTERS)}
      open={open}
      onClose={onClose}
      onConfirm={erase}
    >
      <p>
        Identifiers, identities and properties of events, payloads in review and the state of campaigns are removed for
        good; that events existed stays. Later events of this person are refused. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
