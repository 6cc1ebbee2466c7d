import type { LiveGroup } from './live-event';

type Field = keyof LiveGroup;

/** What a viewer wants to see. An absent list does not filter. An event without a readable name is in no list. */
export interface LiveFilter {
  readonly include: Readonly<Partial<Record<Field, ReadonlySet<string>>>>;
  readonly exclude: Readonly<Partial<Record<Field, ReadonlySet<string>>>>;
}

/** Whether events of this group are shown. Null stands for groups that are not told apart: some of them may be. */
export function isShown({ include, exclude }: LiveFilter, group: LiveGroup | null): boolean {
  if (group === null) return true;
  const isIn = ([field, names]: [string, ReadonlySet<string>]): boolean => {
    const name = group[field as Field];
    return name !== null && names.has(name);
  };
  return Object.entries(include).every(isIn) && !Object.entries(exclude).some(isIn);
}
