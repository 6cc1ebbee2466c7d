import type { Schema } from '../api/api-types';
import { Badge } from './badge';
import { DataTable, type Column } from './data-table';
import { visibleText } from './visible-text';

type Definition = Schema<'PropertyDefinitionDto'>;

interface NamedDefinition extends Definition {
  readonly name: string;
}

const COLUMNS: readonly Column<NamedDefinition>[] = [
  { id: 'name', header: 'Property', cell: ({ name }) => <code>{visibleText(name)}</code> },
  { id: 'type', header: 'Type', cell: (definition) => typeOf(definition) },
  {
    id: 'marks',
    header: 'Marks',
    cell: ({ required, pii, segmentable }) => (
      <>
        {required === true && <Badge tone="accent">required</Badge>} {pii === true && <Badge>personal</Badge>}{' '}
        {segmentable === true && <Badge>segmentable</Badge>}
      </>
    ),
  },
  { id: 'description', header: 'Description', cell: (definition) => wordsOf(definition), grow: true },
];

interface EventPropertiesProps {
  readonly eventType: string;
  readonly properties: Readonly<Record<string, Definition>>;
}

/** The properties that an event type declares. */
export function EventProperties({ eventType, properties }: EventPropertiesProps) {
  const rows = Object.entries(properties).map(([name, definition]) => ({ name, ...definition }));
  if (rows.length === 0) return <p>It declares no properties.</p>;
  return (
    <DataTable
      label={`Properties of ${visibleText(eventType)}`}
      columns={COLUMNS}
      rows={rows}
      rowKey={({ name }) => name}
    />
  );
}

function typeOf({ type, format }: Definition): string {
  return format === undefined ? type : `${type} (${format})`;
}

function wordsOf({ enum: values, description }: Definition): string {
  const allowed = values === undefined ? '' : `One of ${values.join(', ')}. `;
  return visibleText(`${allowed}${description ?? ''}`);
}
