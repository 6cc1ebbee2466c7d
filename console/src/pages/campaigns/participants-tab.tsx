import { useSearchParams } from 'wouter';
import { useList, useRead } from '../../api/queries';
import type { Schema } from '../../api/api-types';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { FilterBar, type FilterField } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Inline, Stack } from '../../design/layout';
import { Properties, Section } from '../../design/page';
import { Empty, Loaded } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import { HistoryTable } from './history-table';
import { ValueText, type Value } from './values';

const PARTICIPANT: FilterField = {
  name: 'sub',
  label: 'Participant (sub)',
  kind: 'text',
  placeholder: 'customer-4711',
};
const HISTORY: readonly FilterField[] = [
  { name: 'name', label: 'Changes of variable', kind: 'text' },
  { name: 'from', label: 'Changes from', kind: 'time' },
  { name: 'to', label: 'Changes to', kind: 'time' },
];

type Participant = Schema<'ParticipantDto'>;

interface ParticipantsTabProps {
  readonly campaignId: string;
}

/** All participants, or the one that `?sub=` names: subjects may hold any character, so they are no part of the path. */
export function ParticipantsTab({ campaignId }: ParticipantsTabProps) {
  const [{ sub }] = useFilters(['sub']);
  return (
    <Stack>
      <FilterBar fields={sub === undefined ? [PARTICIPANT] : [PARTICIPANT, ...HISTORY]} />
      {sub === undefined ? (
        <ParticipantList campaignId={campaignId} />
      ) : (
        <OneParticipant key={sub} campaignId={campaignId} sub={sub} />
      )}
    </Stack>
  );
}

function ParticipantList({ campaignId }: ParticipantsTabProps) {
  const [, setSearch] = useSearchParams();
  const list = useList('/v1/campaigns/{campaign_id}/participants', { path: { campaign_id: campaignId } });
  const columns: readonly Column<Participant>[] = [
    {
      id: 'sub',
      header: 'Participant',
      cell: ({ sub }) => (
        <Button kind="quiet" onClick={() => setSearch({ tab: 'participants', sub })}>
          {visibleText(sub)}
        </Button>
      ),
    },
    { id: 'values', header: 'Own values', cell: ({ state }) => <Values values={state.user} />, grow: true },
  ];
  return (
    <Section title="Participants">
      <PagedTable
        label="List of participants"
        columns={columns}
        list={list}
        rowKey={({ sub }) => sub}
        empty={<NoParticipants campaignId={campaignId} />}
      />
    </Section>
  );
}

function Values({ values }: { readonly values: Readonly<Record<string, Value>> }) {
  return (
    <Inline>
      {Object.entries(values).map(([name, value]) => (
        <span key={name}>
          {name} <ValueText value={value} />
        </span>
      ))}
    </Inline>
  );
}

interface OneParticipantProps extends ParticipantsTabProps {
  readonly sub: string;
}

function OneParticipant({ campaignId, sub }: OneParticipantProps) {
  const state = useRead('/v1/campaigns/{campaign_id}/participants/{sub}/state', {
    path: { campaign_id: campaignId, sub },
  });
  return (
    <Stack>
      <h2>{visibleText(sub)}</h2>
      <Section title="State">
        <Loaded query={state}>
          {({ state: { user, campaign, app, system } }) => (
            <Properties
              entries={[
                ...entriesOf('user', user),
                ...entriesOf('campaign', campaign),
                ...entriesOf('app', app),
                ['Last session', system.sessionId === null ? '–' : visibleText(system.sessionId)],
              ]}
            />
          )}
        </Loaded>
      </Section>
      <ParticipantHistory campaignId={campaignId} sub={sub} />
    </Stack>
  );
}

function ParticipantHistory({ campaignId, sub }: OneParticipantProps) {
  const [filters] = useFilters(['name', 'from', 'to']);
  const list = useList('/v1/campaigns/{campaign_id}/participants/{sub}/history', {
    path: { campaign_id: campaignId, sub },
    query: filters,
  });
  return (
    <Section title="History of own values">
      <HistoryTable list={list} empty={<Empty title="Nothing has changed in the time that is kept" />} />
    </Section>
  );
}

function entriesOf(scope: string, values: Readonly<Record<string, Value>>) {
  return Object.entries(values).map(([name, value]) => [`${scope}.${name}`, <ValueText value={value} />] as const);
}

function NoParticipants({ campaignId }: ParticipantsTabProps) {
  return (
    <Empty title="No participant has values yet">
      <p>Values come from participants themselves, from reactions to events, or from your backend:</p>
      <Curl
        method="POST"
        path={`/v1/campaigns/${campaignId}/participants/customer-4711/state:mutate`}
        body={{ mutation_id: 'welcome-4711', ops: [{ path: 'state.user.points', op: 'inc', value: 10 }] }}
      />
    </Empty>
  );
}
