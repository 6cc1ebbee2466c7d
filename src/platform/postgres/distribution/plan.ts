import { COORDINATOR_TABLES, DISTRIBUTED_TABLES } from './tables';

/** A table of the schema as the database shows it. `local`: on the server that was asked, which is the coordinator. */
export interface FoundTable {
  readonly name: string;
  readonly place: 'local' | 'distributed' | 'reference';
  /** The column that spreads the rows; null unless the table is distributed. */
  readonly column: string | null;
  /** Co-located tables have the same number; null unless the table is distributed. */
  readonly colocation: number | null;
  /** Rows that a distribution has left behind on the coordinator, in bytes; nobody sees them any more. */
  readonly leftoverBytes: number;
}

/** What is missing in a table, in words; undefined when it stands where it belongs. */
interface CheckedTable {
  readonly table: FoundTable;
  readonly fault: string | undefined;
}

/** The tables of the lists that the database lacks, and those that no list names. */
export interface DistributionPlan {
  readonly tables: readonly CheckedTable[];
  readonly absent: readonly string[];
  readonly unknown: readonly string[];
}

/** Compares the tables of a database with the lists of `tables.ts`. */
export function distributionPlan(found: readonly FoundTable[]): DistributionPlan {
  const names = new Set(found.map(({ name }) => name));
  const listed = [...DISTRIBUTED_TABLES, ...COORDINATOR_TABLES];
  const together = found.find(({ name, place }) => place === 'distributed' && DISTRIBUTED_TABLES.includes(name));
  return {
    tables: found
      .filter(({ name }) => listed.includes(name))
      .map((table) => ({ table, fault: faultOf(table, together?.colocation ?? null) })),
    absent: listed.filter((name) => !names.has(name)),
    unknown: found.map(({ name }) => name).filter((name) => !listed.includes(name)),
  };
}

function faultOf({ name, place, column, colocation, leftoverBytes }: FoundTable, together: number | null) {
  if (COORDINATOR_TABLES.includes(name)) return place === 'local' ? undefined : 'belongs on the coordinator';
  if (place !== 'distributed') return 'is not distributed';
  if (column !== 'tenant_id') return `is distributed by ${column ?? 'no column'}, not by tenant_id`;
  if (colocation !== together) return 'is not co-located with the other tables';
  return leftoverBytes > 0 ? 'has a local copy of its rows on the coordinator' : undefined;
}
