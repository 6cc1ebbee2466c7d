import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { NIL_UUID } from '../platform/values/uuid';
import { StoredValueCounter, type CountedValues, type ValuesOutside } from '../variables/stored-value-counter';

/** Some milliseconds of the database; half a second where each participant has 0.4 MB of values. */
const ROWS_PER_STEP = 1_000;

interface StepRow {
  readonly looked: number;
  /** Null: there was no row. */
  readonly last: string | null;
  readonly belowMin: number;
  readonly aboveMax: number;
}

/**
 * Counts the rows of a step: `rows` has `key`, `value` and `period_start`, in epoch milliseconds, ordered by key.
 * Parameters: $4 least value, $5 greatest value, null: no limit; $6 the beginning of the period, null: none.
 */
const countStep = (rows: string): string => `
  WITH step AS (${rows})
  SELECT count(*)::integer AS looked, (SELECT key::text FROM step ORDER BY key DESC LIMIT 1) AS last,
    count(*) FILTER (WHERE jsonb_typeof(value) = 'number' AND value::numeric < $4::numeric
      AND ($6::float8 IS NULL OR period_start >= $6))::integer AS "belowMin",
    count(*) FILTER (WHERE jsonb_typeof(value) = 'number' AND value::numeric > $5::numeric
      AND ($6::float8 IS NULL OR period_start >= $6))::integer AS "aboveMax"
  FROM step`;

/** $1 workspace, $2 the key of the last row of the step before, $3 name, $7 campaign. */
const COUNT_USER_VALUES = countStep(`
  SELECT id AS key, values -> $3 AS value, (periods ->> $3)::float8 AS period_start FROM participant_states
  WHERE tenant_id = $1 AND campaign_id = $7 AND subject <> '' AND id > $2::uuid ORDER BY id LIMIT ${ROWS_PER_STEP}`);
const COUNT_CAMPAIGN_VALUES = countStep(`
  SELECT owner_id AS key, value, date_part('epoch', period_start) * 1000 AS period_start FROM shared_values
  WHERE tenant_id = $1 AND scope = 'campaign' AND owner_id = $7 AND owner_id > $2 AND name = $3`);
/** Of all apps; apps are few, and each has at most as many rows as the workspace ever declared names. */
const COUNT_APP_VALUES = countStep(`
  SELECT owner_id AS key, value, date_part('epoch', period_start) * 1000 AS period_start FROM shared_values
  WHERE tenant_id = $1 AND scope = 'app' AND owner_id > $2 AND name = $3 ORDER BY owner_id LIMIT ${ROWS_PER_STEP}`);

/** Counts the stored values outside of the limits of a variable, in steps (docs/adr/0064). */
@Injectable()
export class ValuesOutsideLimits implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly counter: StoredValueCounter,
  ) {}

  onModuleInit(): void {
    this.counter.register((tenantId, values) => this.count(tenantId, values));
  }

  private async count(
    tenantId: string,
    { campaignId, scope, name, limits, periodStart }: CountedValues,
  ): Promise<ValuesOutside> {
    const statement = { user: COUNT_USER_VALUES, campaign: COUNT_CAMPAIGN_VALUES, app: COUNT_APP_VALUES }[scope];
    const limited = [limits.min ?? null, limits.max ?? null, periodStart ?? null];
    const owner = scope === 'app' ? [] : [campaignId];
    const sum = { belowMin: 0, aboveMax: 0 };
    for (let after = scope === 'user' ? NIL_UUID : ''; ;) {
      const parameters = [tenantId, after, name, ...limited, ...owner];
      const [row]: StepRow[] = await this.database.query(statement, parameters);
      sum.belowMin += row?.belowMin ?? 0;
      sum.aboveMax += row?.aboveMax ?? 0;
      if (row?.last == null || row.looked < ROWS_PER_STEP) return sum;
      after = row.last;
    }
  }
}
