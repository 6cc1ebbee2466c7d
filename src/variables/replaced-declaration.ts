import { randomId } from '../platform/values/ids';
import type { ReplacedDeclaration, Variable } from './entities/variable.entity';

/**
 * What a definition replaces while its limits are not confirmed: the last declaration whose limits are, archived if what is stored
 * is. `stored`: null if nothing is declared.
 */
export function replacedDeclaration(stored: Variable | null): ReplacedDeclaration {
  const mark = randomId();
  const confirmed = confirmedDeclaration(stored);
  if (confirmed === null) return { mark, declaration: null };
  const { defaultValue, description, min, max, period, updatedAt, archivedAt } = confirmed;
  return {
    mark,
    declaration: {
      defaultValue,
      description,
      min,
      max,
      period,
      updatedAt: updatedAt.toISOString(),
      archivedAt: archivedAt?.toISOString() ?? null,
    },
  };
}

/** The last declaration whose limits are confirmed; null: there is none. */
export function confirmedDeclaration(stored: Variable | null): Variable | null {
  return stored?.replaced == null ? stored : declarationReplacedBy(stored);
}

/** What comes back when a definition is taken back; null: nothing was declared. What was archived since stays archived. */
export function declarationReplacedBy(variable: Variable): Variable | null {
  const { tenantId, campaignId, scope, name, type, createdAt, replaced } = variable;
  if (replaced?.declaration == null) return null;
  const { updatedAt, archivedAt, ...rules } = replaced.declaration;
  return {
    tenantId,
    campaignId,
    scope,
    name,
    type,
    createdAt,
    ...rules,
    updatedAt: new Date(updatedAt),
    archivedAt: archivedAt === null ? variable.archivedAt : new Date(archivedAt),
    replaced: null,
  };
}
