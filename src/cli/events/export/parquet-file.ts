import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { VERSION } from '../../../platform/config/version';
import type { ExportedEvent } from './event-output';
import { GrowingFile } from './growing-file';

type Value = string | bigint | number | null;

interface Column {
  readonly name: string;
  readonly element: Omit<SchemaElement, 'name'>;
  readonly value: (event: ExportedEvent) => Value;
}

/** In the form that readers know versions by. */
const CREATED_BY = `campaign-data-service version ${VERSION}`;
/** Rows are held in memory until there are so many, or until their texts have so many characters. */
const ROW_GROUP_ROWS_MAX = 50_000;
const ROW_GROUP_CHARACTERS_MAX = 16 * 1024 * 1024;

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
const TIME = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;

/** Names as warehouses have them. Identity and properties are JSON, since each event type has others. */
const COLUMNS: readonly Column[] = Object.values({
  eventId: text('event_id', ({ eventId }) => eventId),
  family: text('family', ({ family }) => family),
  source: text('source', ({ source }) => source),
  externalEventId: text('external_event_id', ({ externalEventId }) => externalEventId),
  eventType: text('event_type', ({ eventType }) => eventType),
  eventTypeVersion: {
    name: 'event_type_version',
    element: { type: 'INT32', repetition_type: 'OPTIONAL' },
    value: ({ eventTypeVersion }) => eventTypeVersion,
  },
  occurredAt: time('occurred_at', ({ occurredAt }) => occurredAt),
  receivedAt: time('received_at', ({ receivedAt }) => receivedAt),
  profileId: text('profile_id', ({ profileId }) => profileId),
  identity: text('identity', ({ identity }) => JSON.stringify(identity)),
  properties: text('properties', ({ properties }) => JSON.stringify(properties)),
} satisfies Record<Exclude<keyof ExportedEvent, 'processing'>, Column>);

const SCHEMA: SchemaElement[] = [
  { name: 'events', num_children: COLUMNS.length },
  ...COLUMNS.map(({ name, element }) => ({ repetition_type: 'REQUIRED' as const, ...element, name })),
];

function text(name: string, value: (event: ExportedEvent) => string): Column {
  return { name, element: TEXT, value };
}

/** Milliseconds since 1970-01-01T00:00:00Z. */
function time(name: string, of: (event: ExportedEvent) => string): Column {
  return { name, element: TIME, value: (event) => BigInt(Date.parse(of(event))) };
}

/** A Parquet file (Snappy) that is written row group by row group; it can be read once it is finished. */
export class ParquetFile {
  rows = 0;
  private readonly bytes: FlushedBytes;
  private readonly parquet: ParquetWriter;
  private columns: Value[][] = COLUMNS.map(() => []);
  private groupCharacters = 0;

  private constructor(private readonly file: GrowingFile) {
    this.bytes = new FlushedBytes(file);
    this.parquet = new ParquetWriter({ writer: this.bytes, schema: SCHEMA, createdBy: CREATED_BY });
  }

  /** Throws `ClientFailure` (exit code 2). */
  static async create(path: string): Promise<ParquetFile> {
    return new ParquetFile(await GrowingFile.create(path));
  }

  async append(events: readonly ExportedEvent[]): Promise<void> {
    for (const event of events) {
      COLUMNS.forEach(({ value }, index) => {
        const cell = value(event);
        this.columns[index]?.push(cell);
        if (typeof cell === 'string') this.groupCharacters += cell.length;
      });
      this.rows += 1;
      const isFull =
        this.groupCharacters >= ROW_GROUP_CHARACTERS_MAX || (this.columns[0]?.length ?? 0) >= ROW_GROUP_ROWS_MAX;
      if (isFull) await this.writeGroup();
    }
  }

  /** Writes what is left and the footer; then all of it is on disk. */
  async finish(): Promise<void> {
    await this.writeGroup();
    await this.parquet.finish();
    await this.bytes.flush();
    await this.file.sync();
    await this.file.close();
  }

  discard(): Promise<void> {
    return this.file.discard();
  }

  private async writeGroup(): Promise<void> {
    const [first = []] = this.columns;
    if (first.length === 0) return;
    const columnData = COLUMNS.map(({ name }, index) => ({ name, data: this.columns[index] ?? [] }));
    await this.parquet.write({ columnData, rowGroupSize: first.length });
    this.columns = COLUMNS.map(() => []);
    this.groupCharacters = 0;
  }
}

/** Is emptied into the file after each row group, so that no more than one is in memory. */
class FlushedBytes extends ByteWriter {
  constructor(private readonly file: GrowingFile) {
    super();
  }

  async flush(): Promise<void> {
    await this.file.append(this.getBytes());
    this.index = 0;
  }
}
