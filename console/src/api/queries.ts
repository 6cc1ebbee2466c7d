import { useInfiniteQuery, useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { api } from './api';
import type { Answer, CallOptions, Operation, PathWith } from './api-types';

type GetOptions<P extends PathWith<'get'>> = CallOptions<Operation<'get', P>>;
type GetAnswer<P extends PathWith<'get'>> = Answer<Operation<'get', P>>;

/** Reads one record. The key of the query is `[path, options]`, so `invalidateQueries({ queryKey: [path] })` reads again. */
export function useRead<P extends PathWith<'get'>>(
  path: P,
  options: GetOptions<P>,
  settings: Pick<UseQueryOptions, 'enabled' | 'refetchInterval'> = {},
): UseQueryResult<GetAnswer<P>> {
  const read = (signal: AbortSignal): Promise<unknown> => untyped(path, { ...options, signal });
  const query = useQuery({ queryKey: [path, options], queryFn: ({ signal }) => read(signal), ...(settings as object) });
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
  readonly reload: () => void;
}

export function useList<P extends PathWith<'get'>>(
  path: P,
  options: GetOptions<P>,
  settings: { readonly enabled?: boolean; readonly refetchInterval?: number | false } = {},
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
    ...settings,
  });
  return {
    items: query.data?.pages.flatMap(({ items }) => items) ?? [],
    isPending: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    reload: () => void query.refetch(),
  };
}

/** The types above hold for callers; inside, a path is any path. */
const untyped = api.get as (path: string, options: object) => Promise<unknown>;
