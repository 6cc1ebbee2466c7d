import { useCallback, useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { BASE_PATH } from '../../api/api';
import { matches, type LiveFilters } from './live-filters';
import { useStreamPlace } from './stream-place';

/** An event as it was answered. Names are null where they could not be read. */
export interface LiveEvent {
  readonly at: string;
  readonly family: 'external' | 'cdp';
  readonly source: string | null;
  readonly eventType: string | null;
  /** Null for a refused event. */
  readonly eventId: string | null;
  /** The sender's own id. */
  readonly id: string | null;
  readonly result: 'accepted' | 'duplicate' | 'refused';
  readonly codes: readonly string[];
  /** The review entry of a refused event. */
  readonly entryId?: string;
}

/** A row of the page: `key` tells apart what was answered twice. */
export interface LiveRow extends LiveEvent {
  readonly key: number;
}

/** `waiting`: for another tab, since too many of this browser show live events. */
export type Connection = 'waiting' | 'connecting' | 'open' | 'closed';

interface LiveEvents {
  readonly rows: readonly LiveRow[];
  /** Events that the service counted but did not send, because there were too many. */
  readonly notShown: number;
  readonly connection: Connection;
  readonly reconnect: () => void;
}

/** Older rows leave the page. */
export const ROWS_MAX = 500;

interface Received extends Pick<LiveEvents, 'rows' | 'notShown'> {
  /** The address, with its filters, whose events `notShown` counts. */
  readonly counted: string;
}

const NOTHING: Received = { rows: [], notShown: 0, counted: '' };

/** Events as they are answered, the newest first: the last 500 that the filters let through. */
export function useLiveEvents(filters: LiveFilters): LiveEvents {
  const [received, setReceived] = useState(NOTHING);
  const [known, setKnown] = useState<{ readonly stream: string; readonly connection: Connection }>();
  const [attempt, setAttempt] = useState(0);
  const lastKey = useRef(0);
  const client = useQueryClient();
  const address = streamAddress(filters);
  const stream = `${attempt} ${address}`;
  const hasPlace = useStreamPlace();
  const reconnect = useCallback(() => setAttempt((before) => before + 1), []);

  useEffect(() => {
    if (!hasPlace) return undefined;
    const source = new EventSource(`${BASE_PATH}/api${address}`);
    const setConnection = (connection: Connection): void => setKnown({ stream, connection });
    source.addEventListener('open', () => setConnection('open'));
    source.addEventListener('error', () => {
      setConnection(source.readyState === EventSource.CLOSED ? 'closed' : 'connecting');
      // The browser does not say why. If the session has ended, the page must not stay.
      void client.invalidateQueries({ queryKey: ['session'] });
    });
    source.addEventListener('events', ({ data }: MessageEvent<string>) => {
      const { items, notShown } = JSON.parse(data) as { items: readonly LiveEvent[]; notShown: number };
      const fresh = items.map((item) => ({ ...item, key: (lastKey.current += 1) })).reverse();
      setReceived((before) => ({
        rows: [...fresh, ...before.rows].slice(0, ROWS_MAX),
        notShown: (before.counted === address ? before.notShown : 0) + notShown,
        counted: address,
      }));
    });
    return () => source.close();
  }, [address, stream, client, hasPlace]);

  return {
    rows: received.rows.filter((row) => matches(filters, row)),
    notShown: received.counted === address ? received.notShown : 0,
    connection: !hasPlace ? 'waiting' : known?.stream === stream ? known.connection : 'connecting',
    reconnect,
  };
}

/** Below the console's own routes. */
export function streamAddress(filters: LiveFilters): string {
  const search = new URLSearchParams(Object.entries(filters)).toString();
  return `/live${search === '' ? '' : `?${search}`}`;
}
