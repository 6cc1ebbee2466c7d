import type { PagedList } from '../api/queries';

interface NotAmongProps {
  /** What the address names: "event". */
  readonly what: string;
  readonly list: PagedList<unknown>;
}

/** The address names a record of a list that is not among those that were read. */
export function NotAmong({ what, list: { isPending, error, hasMore } }: NotAmongProps) {
  if (isPending || error !== null) return null;
  return (
    <p role="status">
      {`The ${what} that the address names is not among these. ${hasMore ? 'Show more, or clear the filters.' : 'Clear the filters to look for it.'}`}
    </p>
  );
}
