import { readable } from '../foreign-data';
import { changedFields, type ChangedField } from './changed-fields';
import type { KindPlan } from './configuration-plan';
import type { PlannedChange } from './configuration-kind';

/** Longer values are cut: a line is to be read. `--json` has them whole. */
const VALUE_CHARACTERS_MAX = 80;
const SIGNS = { create: '+', change: '~', archive: '-' } as const;

/** The changes in lines for people; none without changes. */
export function planLines(plans: readonly KindPlan[]): readonly string[] {
  return plans.flatMap(({ kind, changes }) =>
    changes.flatMap((change) => {
      const { action, key, breaks, notes } = change;
      const verb = action === 'archive' ? ` (${kind.archiving?.verb ?? 'archive'})` : '';
      return [
        `${SIGNS[action]} ${kind.name} ${readable(key)}${verb}`,
        ...fieldsOfChange(change).map(fieldLine),
        ...breaks.map(({ message }) => `    breaks: ${readable(message)}`),
        ...notes.map((note) => `    note: ${note}`),
      ];
    }),
  );
}

/** The plan for programs. */
export function planJson(workspace: string, plans: readonly KindPlan[]): object {
  const changes = plans.flatMap(({ kind, changes: ofKind }) =>
    ofKind.map((change) => {
      const { action, key, before = null, after = null, breaks, notes } = change;
      const fields = fieldsOfChange(change).map(({ path, ...values }) => {
        return { path, before: values.before ?? null, after: values.after ?? null };
      });
      return { kind: kind.name, action, key, fields, breaks, notes, before, after };
    }),
  );
  return { workspace, changes };
}

/** `3 changes: 1 to create, 1 to change, 1 to archive.` */
export function planSummary(plans: readonly KindPlan[]): string {
  const all = plans.flatMap(({ changes }) => changes);
  const count = (action: PlannedChange['action']): number => all.filter((each) => each.action === action).length;
  return `${changesWords(all.length)}: ${count('create')} to create, ${count('change')} to change, ${count('archive')} to archive.`;
}

export function changesWords(count: number): string {
  return `${count} ${count === 1 ? 'change' : 'changes'}`;
}

function fieldsOfChange({ before, after }: PlannedChange): readonly ChangedField[] {
  return before === undefined || after === undefined ? [] : changedFields(before, after);
}

function fieldLine({ path, before, after }: ChangedField): string {
  return `    ${readable(path)}: ${valueWords(before)} → ${valueWords(after)}`;
}

function valueWords(value: unknown): string {
  if (value === undefined) return 'none';
  const text = readable(JSON.stringify(value));
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
}
