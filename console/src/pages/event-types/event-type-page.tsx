import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { DataTable, type Column } from '../../design/data-table';
import { ConfirmDialog } from '../../design/dialog';
import { EventProperties } from '../../design/event-properties';
import { Select } from '../../design/field';
import { useFilters } from '../../design/filters';
import { JsonView } from '../../design/json-view';
import { Stack } from '../../design/layout';
import { Page } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Tabs } from '../../design/tabs';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import styles from './event-types.module.css';

type History = Schema<'EventTypeHistoryDto'>;
type Version = Schema<'EventTypeDto'>;

/** One event type with its versions. */
export function EventTypePage({ name }: { readonly name: string }) {
  const query = useRead('/v1/cdp/event-types/{eventType}', { path: { eventType: name } });
  return (
    <Page
      title={visibleText(name)}
      back={{ href: '/event-types', label: 'All event types' }}
      actions={query.data && <TypeActions history={query.data} />}
    >
      <Loaded query={query}>{(history) => <HistoryView history={history} />}</Loaded>
    </Page>
  );
}

function TypeActions({ history: { eventType, deprecatedAt } }: { readonly history: History }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  if (!useScope('event-types:write')) return null;
  const deprecate = async (): Promise<void> => {
    await api.post('/v1/cdp/event-types/{eventType}:deprecate', { path: { eventType }, body: {} });
    await client.invalidateQueries({
      predicate: ({ queryKey: [path] }) => String(path).startsWith('/v1/cdp/event-types'),
    });
  };
  return (
    <>
      {deprecatedAt === null && <Button onClick={() => setAsking(true)}>Deprecate</Button>}
      <Button kind="primary" onClick={() => navigate(`/event-types/_new?base=${encodeURIComponent(eventType)}`)}>
        New version
      </Button>
      <ConfirmDialog
        title={`Deprecate ${eventType}`}
        action="Deprecate"
        open={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={deprecate}
      >
        <p>
          Its events are still accepted. They leave one warning a day in review, so that their senders can be found.
        </p>
      </ConfirmDialog>
    </>
  );
}

function HistoryView({ history: { eventType, deprecatedAt, versions } }: { readonly history: History }) {
  const [{ version }, change] = useFilters(['version']);
  const mayReview = useScope('review:read');
  const shown = versions.find((each) => String(each.version) === version) ?? versions[0];
  if (shown === undefined) return null;
  return (
    <>
      {deprecatedAt !== null && (
        <p>
          <Badge tone="warning">deprecated</Badge> <Time at={deprecatedAt} />. Its events are still accepted.
        </p>
      )}
      {shown.description !== undefined && <p className={styles['description']}>{visibleText(shown.description)}</p>}
      {mayReview && (
        <p>
          <Link href={`/review?eventType=${encodeURIComponent(eventType)}`}>Refused events of this type</Link>
        </p>
      )}
      <Tabs
        label="Parts of the event type"
        tabs={[
          {
            id: 'properties',
            label: 'Properties',
            content: (
              <Stack>
                <div className={styles['version']}>
                  <Select
                    label="Version"
                    value={String(shown.version)}
                    options={versions.map((each, index) => ({
                      value: String(each.version),
                      label: index === 0 ? `${each.version} (current)` : String(each.version),
                    }))}
                    onChange={({ target }) => change({ version: target.value })}
                  />
                </div>
                <p>{ADDITIONAL[shown.additionalProperties]}</p>
                <EventProperties eventType={eventType} properties={shown.properties} />
              </Stack>
            ),
          },
          { id: 'versions', label: 'Versions', content: <Versions versions={versions} /> },
          { id: 'schema', label: 'JSON Schema', content: <JsonSchema eventType={eventType} /> },
        ]}
      />
    </>
  );
}

const ADDITIONAL: Readonly<Record<Version['additionalProperties'], string>> = {
  reject: 'Events with other properties are refused.',
  allow: 'Events may have other properties.',
};

const VERSIONS: readonly Column<Version & { readonly changes: string }>[] = [
  { id: 'version', header: 'Version', align: 'end', cell: ({ version }) => version },
  { id: 'created', header: 'Published', cell: ({ createdAt }) => <Time at={createdAt} exact /> },
  { id: 'changes', header: 'Changed properties', cell: ({ changes }) => visibleText(changes), grow: true },
  {
    id: 'show',
    header: 'Show',
    cell: ({ eventType, version }) => <Link href={`/event-types/${eventType}?version=${version}`}>Properties</Link>,
  },
];

function Versions({ versions }: { readonly versions: readonly Version[] }) {
  const rows = versions.map((version, index) => ({ ...version, changes: changesOf(version, versions[index + 1]) }));
  return <DataTable label="Versions" columns={VERSIONS} rows={rows} rowKey={({ version }) => String(version)} />;
}

/** What a version changed: `+` added, `-` removed, `~` another definition. */
function changesOf({ version, properties }: Version, before: Version | undefined): string {
  if (before === undefined) return version === 1 ? 'first version' : '–';
  // A property may be called `constructor`, which every object has.
  const [olds, currents] = [new Map(Object.entries(before.properties)), new Map(Object.entries(properties))];
  const names = [...new Set([...olds.keys(), ...currents.keys()])];
  const changes = names.flatMap((name) => {
    const [old, current] = [olds.get(name), currents.get(name)];
    if (JSON.stringify(old) === JSON.stringify(current)) return [];
    return `${old === undefined ? '+' : current === undefined ? '-' : '~'}${name}`;
  });
  return changes.length === 0 ? 'none' : changes.join(', ');
}

function JsonSchema({ eventType }: { readonly eventType: string }) {
  const query = useRead('/v1/cdp/event-types/{eventType}/json-schema', { path: { eventType } });
  return <Loaded query={query}>{(schema) => <JsonView value={schema} what="JSON Schema" />}</Loaded>;
}
