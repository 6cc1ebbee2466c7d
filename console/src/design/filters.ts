import { useLocation, useSearchParams } from 'wouter';

/** Values of filters by name; those that are not set are undefined. */
export type FilterValues<N extends string> = Readonly<Partial<Record<N, string>>>;

/** Filters that live in the address, so that a link or a reload shows the same list. */
export function useFilters<const N extends string>(
  names: readonly N[],
): [FilterValues<N>, (changes: Readonly<Partial<Record<N, string | undefined>>>) => void] {
  const [search, setSearch] = useSearchParams();
  const given = names.flatMap((name) => {
    const value = search.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const change = (changes: Readonly<Partial<Record<N, string | undefined>>>): void =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | undefined>(changes)) {
          if (value === undefined || value === '') after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  return [Object.fromEntries(given) as FilterValues<N>, change];
}

/** The address of this page with one value of its search replaced; without a value it is left out. */
export function useHrefWith(name: string): (value?: string) => string {
  const [path] = useLocation();
  const [search] = useSearchParams();
  return (value) => {
    const after = new URLSearchParams(search);
    if (value === undefined) after.delete(name);
    else after.set(name, value);
    return after.size === 0 ? path : `${path}?${after.toString()}`;
  };
}
