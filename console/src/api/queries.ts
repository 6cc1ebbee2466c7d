import {
  useInfiniteQuery,
  useQuery,
  type QueryClient,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { api } from './api';
import type { Answer, CallOptions, Operation, PathWith } from './api-types';

type GetOptions<P extends PathWith<'get'>> = CallOptions<Operation<'get', P>>;
type GetAnswer<P extends PathWith<'get'>> = Answer<Operation<'get', P>>;

/**
 * Each read of personal data is recorded and may need a proof. It is made when somebody asks, and not by itself when they
 * come back to the tab.
 */
function byItself({ query }: { readonly query?: unknown }): object {
  const isUnmasked = (query as { readonly unmask?: unknown } | undefined)?.unmask === 'true';
  return isUnmasked ? { refetchOnWindowFocus: false, refetchOnReconnect: false } : {};
}

/** Reads one record. The key of the query is `[path, options]`, so `invalidateQueries({ queryKey: [path] })` reads again. */
export function useRead<P extends PathWith<'get'>>(
  path: P,
  options: GetOptions<P>,
  settings: Pick<UseQueryOptions, 'enabled' | 'refetchInterval' | 'placeholderData'> = {},
): UseQueryResult<GetAnswer<P>> {
  const read = (signal: AbortSignal): Promise<unknown> => untyped(path, { ...options, signal });
  const query = useQuery({
    queryKey: [path, options],
    queryFn: ({ signal }) => read(signal),
    ...byItself(options),
    ...(settings as object),
  });
  return query as UseQueryResult<GetAnswer<P>>;
}

type Item<T> = T extends { items: readonly (infer I)[] } ? I : never;

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** A list that is read page by page, by the cursors of the API. */
export interface PagedList<T> {
  readonly items: readonly T[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  /** Reads again what could not be read: the next page, or those that are shown. */
  readonly retry: () => void;
}

export function useList<P extends PathWith<'get'>>(
  path: P,
  options: GetOptions<P>,
  {
    refetchInterval = false,
    ...settings
  }: { readonly enabled?: boolean; readonly refetchInterval?: number | false } = {},
): PagedList<Item<GetAnswer<P>>> {
  const query = useInfiniteQuery({
    queryKey: [path, options, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      untyped(path, {
        ...options,
        query: { ...(options.query as object | undefined), cursor: pageParam },
        signal,
      }) as Promise<Page<Item<GetAnswer<P>>>>,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    ...byItself(options),
    ...settings,
    // All pages are read again, one after the other: with many of them it is done as much less often.
    refetchInterval: ({ state: { data } }) => refetchInterval && refetchInterval * Math.max(1, data?.pages.length ?? 1),
  });
  return {
    items: query.data?.pages.flatMap(({ items }) => items) ?? [],
    isPending: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch()),
  };
}

/** Removes what was read from the page, also what is still shown; who is signed in stays. */
export function forgetRecords(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey: [name] }) => name !== 'session' });
}

/** The types above hold for callers; inside, a path is any path. */
const untyped = api.get as (path: string, options: object) => Promise<unknown>;
