import { api } from '../../api/api';
import { useRead } from '../../api/queries';
import { useLateNavigation } from '../../design/action';
import { Dialog } from '../../design/dialog';
import { ActionForm } from '../../design/form';
import { Properties } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { filterEntries } from './bulk-job';
import { useNote } from './note-field';
import type { ReplayFilter } from './review-filters';

interface BulkDismissalDialogProps {
  readonly filter: ReplayFilter;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Shows how many entries a bulk dismissal would close, before it begins. */
export function BulkDismissalDialog({ filter, open, onClose }: BulkDismissalDialogProps) {
  const navigate = useLateNavigation();
  return (
    <Dialog title="Dismiss all that match" open={open} onClose={onClose}>
      <BulkDismissalForm filter={filter} onClose={onClose} navigate={navigate} />
    </Dialog>
  );
}

interface BulkDismissalFormProps extends Omit<BulkDismissalDialogProps, 'open'> {
  readonly navigate: (href: string) => void;
}

function BulkDismissalForm({ filter, onClose, navigate }: BulkDismissalFormProps) {
  const { field, body: noteBody } = useNote('Why they need no action');
  const counts = useRead('/v1/review-entries:summary', { query: filter });
  const start = async (): Promise<void> => {
    const { jobId } = await api.post('/v1/review-entries:dismiss', { body: { filter, ...noteBody } });
    navigate(`/review/dismissals/${jobId}`);
  };
  const total = counts.data?.total ?? 0;
  return (
    <ActionForm
      action={total === 0 ? 'Dismiss' : `Dismiss ${total.toLocaleString()}`}
      kind="danger"
      disabled={total === 0}
      onSubmit={start}
      onCancel={onClose}
    >
      <Properties entries={filterEntries(filter)} />
      <Loaded query={counts}>
        {() => (
          <p role="status">
            <strong>{`${total.toLocaleString()} ${total === 1 ? 'entry' : 'entries'}`}</strong> would be closed,
            refusals and warnings. Their events are not stored. An entry opens again if its problem happens again.
          </p>
        )}
      </Loaded>
      {field}
    </ActionForm>
  );
}
