import { api } from '../../api/api';
import { useAction, useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { Dialog, DialogActions } from '../../design/dialog';
import { Properties } from '../../design/page';
import { Failed, Loading } from '../../design/state-views';
import { filterEntries } from './bulk-job';
import { useMatching } from './matching';
import type { ReplayFilter } from './review-filters';

interface BulkReplayDialogProps {
  readonly filter: ReplayFilter;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Shows how many events a bulk replay would send, before it begins. */
export function BulkReplayDialog({ filter, open, onClose }: BulkReplayDialogProps) {
  const navigate = useLateNavigation();
  return (
    <Dialog title="Replay all that match" open={open} onClose={onClose}>
      <BulkReplayForm filter={filter} onClose={onClose} navigate={navigate} />
    </Dialog>
  );
}

interface BulkReplayFormProps extends Omit<BulkReplayDialogProps, 'open'> {
  readonly navigate: (href: string) => void;
}

function BulkReplayForm({ filter, onClose, navigate }: BulkReplayFormProps) {
  const { isBusy, error, run } = useAction();
  const matching = useMatching(filter, true);
  const start = async (): Promise<void> => {
    const { jobId } = await api.post('/v1/review-entries:replay', { body: { filter } });
    navigate(`/review/replays/${jobId}`);
  };
  const number = matching.data && `${matching.data.isMore ? 'more than ' : ''}${matching.data.count.toLocaleString()}`;
  return (
    <>
      <Properties entries={filterEntries(filter)} />
      {matching.isPending && <Loading what="Counting" />}
      {matching.error !== null && <Failed error={matching.error} onRetry={() => void matching.refetch()} />}
      {matching.data !== undefined && (
        <p role="status">
          <strong>{`${number ?? ''} refused ${matching.data.count === 1 ? 'event' : 'events'}`}</strong> would be sent
          again as stored, oldest first, under their own ids. One replay sends at most 100,000, and only those of
          sources that your key may send.
        </p>
      )}
      {error !== undefined && <Failed error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          busy={isBusy}
          disabled={matching.data === undefined || matching.data.count === 0}
          onClick={() => void run(start)}
        >
          {number === undefined ? 'Replay' : `Replay ${number}`}
        </Button>
      </DialogActions>
    </>
  );
}
