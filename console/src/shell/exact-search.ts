import { useSearch } from 'wouter/use-browser-location';

/**
 * The search of the address, for the router. It decodes a search as a whole before `URLSearchParams` decodes each value: the
 * participant `a%41` would become `aA`. What is encoded once more comes through that as it stands in the address.
 */
export function useExactSearch(): string {
  return useSearch().replaceAll('%', '%25');
}
