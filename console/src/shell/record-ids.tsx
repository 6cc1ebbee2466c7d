import { CopyableId } from '../design/copyable-id';
import { useHrefWith } from '../design/filters';
import { useScope } from './session-context';

/** The id of the open event in the address. */
export const OPEN_EVENT = 'event';

interface EventIdProps {
  readonly id: string;
  /** The sender's own id of the event, shown and copied instead. */
  readonly externalId?: string | null;
}

/** The id of a stored event. It opens the event over the page, for those who may read events. */
export function EventId({ id, externalId = null }: EventIdProps) {
  const hrefOf = useHrefWith(OPEN_EVENT);
  const mayRead = useScope('events:read');
  const shown = externalId ?? id;
  const what = externalId === null ? 'event id' : 'id of the sender';
  return <CopyableId id={shown} what={what} {...(mayRead ? { href: hrefOf(id) } : {})} />;
}

/** The id of a customer. It leads to the customer, for those who may read profiles. */
export function CustomerId({ id }: { readonly id: string }) {
  const mayRead = useScope('profiles:read');
  return <CopyableId id={id} what="customer id" {...(mayRead ? { href: `/customers/${id}` } : {})} />;
}
