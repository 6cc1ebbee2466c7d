import { Link } from 'wouter';
import { ApiError } from '../../api/api-error';
import { useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { EventProperties } from '../../design/event-properties';
import { isName } from '../../design/path-name';
import { Failed, Loading } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import styles from './review.module.css';

/** What the event type allows, beside an event that it refused. */
export function DeclaredProperties({ eventType }: { readonly eventType: string }) {
  const canBeOne = isName(eventType);
  const query = useRead('/v1/cdp/event-types/{eventType}', { path: { eventType } }, { enabled: canBeOne });
  const current = query.data?.versions[0];
  if (!canBeOne) return <p>{`No event type can be called ${visibleText(eventType)}.`}</p>;
  if (query.error instanceof ApiError && query.error.status === 404) return <Unregistered eventType={eventType} />;
  if (query.error !== null) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (current === undefined) return <Loading what="Loading the event type" />;
  return (
    <section aria-label="Event type" className={styles['schema']}>
      <h3>
        Event type <Link href={`/event-types/${eventType}`}>{eventType}</Link>, version {current.version}{' '}
        <Badge>{current.additionalProperties === 'allow' ? 'others allowed' : 'others refused'}</Badge>
      </h3>
      <EventProperties eventType={eventType} properties={current.properties} />
    </section>
  );
}

function Unregistered({ eventType }: { readonly eventType: string }) {
  return (
    <section aria-label="Event type" className={styles['schema']}>
      <h3>No event type {eventType}</h3>
      <p>
        Register it, and then replay all events of it.{' '}
        <Link href={`/event-types/_new?from=${encodeURIComponent(eventType)}`}>Draft it from refused events</Link>
      </p>
    </section>
  );
}
