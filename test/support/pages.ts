import type { Client } from './client';

/** Well formed, but of a time that PostgreSQL does not know. */
export const CURSOR_BEFORE_ALL_TIME = Buffer.from(
  '["-200000-01-01T00:00:00.000Z","00000000-0000-0000-0000-000000000000"]',
).toString('base64url');

/**
 * The pages of a list, by its `nextCursor`s to the end; `between` happens before each further page. `path` may have a query,
 * with the `limit` of entries that no page may have more of.
 */
export async function pagesOf(
  client: Client,
  path: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<any[][]> {
  const pages: any[][] = [];
  const limit = Number(/[?&]limit=(\d+)/.exec(path)?.[1] ?? 50);
  for (let query = path; ;) {
    const { status, body } = await client.get(query);
    const { completeBefore: _, ...page } = body;
    expect([status, Object.keys(page).sort()]).toEqual([200, ['items', 'nextCursor']]);
    expect(body.items.length).toBeLessThanOrEqual(limit);
    pages.push(body.items);
    if (body.nextCursor === null) return pages;
    query = `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(body.nextCursor)}`;
    await between();
  }
}
