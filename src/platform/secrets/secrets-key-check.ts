import type { Client } from 'pg';
import { NIL_UUID } from '../values/uuid';
import { SecretBoxError, type SecretBox } from './secret-box';
import type { Statement } from '../postgres/statement';

/*
 * The database stores a value that is derived from its key and reveals nothing about it. It belongs to the whole installation;
 * its tenant id is one that no workspace has.
 */
const READ_CHECK = 'SELECT check_value FROM secrets_key_checks WHERE tenant_id = $1';
const WRITE_CHECK = `INSERT INTO secrets_key_checks (tenant_id, check_value, created_at) VALUES ($1, $2, clock_timestamp())
  ON CONFLICT ON CONSTRAINT secrets_key_checks_pkey DO NOTHING`;
const REPLACE_CHECK = `INSERT INTO secrets_key_checks (tenant_id, check_value, created_at) VALUES ($1, $2, clock_timestamp())
  ON CONFLICT ON CONSTRAINT secrets_key_checks_pkey
  DO UPDATE SET check_value = excluded.check_value, created_at = excluded.created_at`;

/** `fits`: the database is used with this key from now on, or was before; `other`: it was used with another one. */
type KeyCheckResult = 'fits' | 'other';

interface KeyLoss {
  readonly count: number;
  readonly loss: string;
}

interface SealedRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly sealed: Buffer;
}

/** Whether a migrated database knows which key it is used with. */
export class SecretsKeyCheck {
  constructor(
    private readonly client: Client,
    private readonly records: readonly KeyedRecords[],
  ) {}

  /** Whether anything was ever written under a key: without it the database is not the same. */
  async needsKey(): Promise<boolean> {
    return (await this.read()) !== undefined || (await this.losses()).length > 0;
  }

  /** Compares the key with the one that the database was used with; where that is not known, the key becomes that one. */
  async check(box: SecretBox): Promise<KeyCheckResult> {
    const known = await this.read();
    if (known === undefined && !(await this.mayAdopt(box))) return 'other';
    await this.client.query(WRITE_CHECK, [NIL_UUID, box.checkValue]);
    // Another node may have been first, with another key.
    return (await this.read())?.equals(box.checkValue) === true ? 'fits' : 'other';
  }

  /** The same without becoming it. */
  async fits(box: SecretBox): Promise<boolean> {
    const known = await this.read();
    return known === undefined ? this.mayAdopt(box) : known.equals(box.checkValue);
  }

  /** Makes it the key of this database, and replaces any former one. */
  async accept(box: SecretBox): Promise<void> {
    await this.client.query(REPLACE_CHECK, [NIL_UUID, box.checkValue]);
  }

  /** What there is that only the former key opens or recognises. */
  async losses(): Promise<KeyLoss[]> {
    const losses: KeyLoss[] = [];
    for (const { count, loss } of this.records) {
      const { rows } = await this.client.query<{ count: number }>(count.text);
      losses.push({ count: rows[0]?.count ?? 0, loss });
    }
    return losses.filter(({ count }) => count > 0);
  }

  private async read(): Promise<Buffer | undefined> {
    const { rows } = await this.client.query<{ check_value: Buffer }>(READ_CHECK, [NIL_UUID]);
    return rows[0]?.check_value;
  }

  /**
   * For an installation that is older than the check. A key that opens any secret is the one in use, also where older secrets
   * have been lost before. Where there are hashes only, nothing can be tried: then it is taken for the one that made them.
   */
  private async mayAdopt(box: SecretBox): Promise<boolean> {
    const sealed: SealedRow[] = [];
    for (const { sample } of this.records) {
      if (sample !== undefined) sealed.push(...(await this.client.query<SealedRow>(sample.text)).rows);
    }
    return sealed.length === 0 || sealed.some((row) => opens(box, row));
  }
}

function opens(box: SecretBox, { sealed, tenant_id: tenantId, id }: SealedRow): boolean {
  try {
    box.open(sealed, tenantId, id);
    return true;
  } catch (error) {
    if (error instanceof SecretBoxError) return false;
    throw error;
  }
}

/** Records of a feature that are unusable without the key they were written with. */
export interface KeyedRecords {
  /** What is lost with the key, after a number: "shared secrets of issuers, which …". */
  readonly loss: string;
  /** How many there are: one row with `count`. */
  readonly count: Statement;
  /** The newest of them with what was sealed: `tenant_id`, `id`, `sealed`. Hashes have none: they cannot be tried. */
  readonly sample?: Statement;
}
