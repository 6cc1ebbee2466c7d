import type { ServerResponse } from 'node:http';
import type { LiveEvent } from './domain/live-event';
import { LiveViewer } from './live-viewer';

const anEvent = (n: number): LiveEvent => ({
  at: '2026-01-01T00:00:00.000Z',
  family: 'external',
  source: 'shop',
  eventType: 'purchase',
  result: 'refused',
  eventId: null,
  id: `order-${n}`,
  codes: ['format'],
  entryId: `entry-${n}`,
});

/** A connection that accepts no more than one message until its client has read. */
function aSlowConnection() {
  const written: string[] = [];
  const connection = {
    writableNeedDrain: false,
    writableEnded: false,
    destroyed: false,
    writeHead: () => undefined,
    write: (text: string) => {
      written.push(text);
      connection.writableNeedDrain = true;
    },
    end: (text: string) => {
      written.push(text);
      connection.writableEnded = true;
    },
    reads: () => {
      connection.writableNeedDrain = false;
      return written.splice(0);
    },
  };
  return connection;
}

function aViewer(connection: ReturnType<typeof aSlowConnection>) {
  const access = { tenantId: 't', filter: { include: {}, exclude: {} }, rights: () => Promise.resolve(undefined) };
  return new LiveViewer(access, connection as unknown as ServerResponse);
}
const dataOf = (message: string): any => JSON.parse(/^data: (.*)$/m.exec(message)?.[1] ?? '');

describe('a live viewer', () => {
  it('keeps at most 100 events for a slow reader, and counts the others', () => {
    const connection = aSlowConnection();
    const viewer = aViewer(connection);
    viewer.open({ showsEntries: true });
    for (let n = 0; n < 10_000; n += 1) {
      viewer.take({ events: [anEvent(n)], notShown: [{ group: null, events: 2 }] });
      viewer.flush();
      viewer.beat();
    }
    expect(connection.reads()).toEqual([': open\n\n']);
    viewer.flush();
    const [message = ''] = connection.reads();
    const { items, notShown } = dataOf(message);
    expect([items.length, notShown]).toEqual([100, 9_900 + 20_000]);
    viewer.flush();
    expect(connection.reads()).toEqual([]);
  });

  it('writes nothing before it is open or after it has ended, and names entries only to those who may read them', () => {
    const connection = aSlowConnection();
    const viewer = aViewer(connection);
    viewer.end('stopping');
    viewer.take({ events: [anEvent(1)], notShown: [] });
    viewer.flush();
    viewer.beat();
    expect(connection.reads()).toEqual([]);
    viewer.open({ showsEntries: false });
    connection.reads();
    viewer.flush();
    expect(dataOf(connection.reads().join()).items[0]).not.toHaveProperty('entryId');
    viewer.end('session_ended');
    viewer.end('stopping');
    viewer.take({ events: [anEvent(2)], notShown: [] });
    viewer.flush();
    expect(connection.reads()).toEqual(['event: end\ndata: {"reason":"session_ended"}\n\n']);
  });
});
