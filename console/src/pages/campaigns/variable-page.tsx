import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api';
import { useList, useRead } from '../../api/queries';
import { useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { ConfirmDialog, Dialog } from '../../design/dialog';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Inline } from '../../design/layout';
import { Notice } from '../../design/notice';
import { Page, Properties, Section } from '../../design/page';
import { Empty, Loaded } from '../../design/state-views';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { HistoryTable } from './history-table';
import { limitsOf, periodOf, ValueText, type Variable } from './values';
import { VariableForm } from './variable-form';
import { NOBODY } from './variables-tab';

interface VariablePageProps {
  readonly campaignId: string;
  readonly scope: string;
  readonly name: string;
}

/** A variable with its rules and, where it is shared, its value and its history. */
export function VariablePage({ campaignId, scope, name }: VariablePageProps) {
  const query = useRead('/v1/campaigns/{campaign_id}/variables', { path: { campaign_id: campaignId } });
  const back = { href: `/campaigns/${encodeURIComponent(campaignId)}`, label: visibleText(campaignId) };
  const variable = query.data?.variables.find((each) => each.scope === scope && each.name === name);
  return (
    <Page
      title={visibleText(`${scope}.${name}`)}
      back={back}
      actions={variable && <VariableActions campaignId={campaignId} variable={variable} />}
    >
      <Loaded query={query}>
        {() => {
          if (variable === undefined) return <Empty title="The campaign does not declare this variable" />;
          return <Declared campaignId={campaignId} variable={variable} />;
        }}
      </Loaded>
    </Page>
  );
}

interface DeclaredProps {
  readonly campaignId: string;
  readonly variable: Variable;
}

function Declared({ campaignId, variable }: DeclaredProps) {
  return (
    <>
      <Properties
        entries={[
          ['Type', variable.type],
          ['Default', <ValueText value={variable.default} />],
          ['Limits', limitsOf(variable)],
          ['Starts again', periodOf(variable)],
          ['Description', visibleText(variable.description ?? '–')],
        ]}
      />
      {variable.scope === 'user' ? (
        <Section title="Values">
          <p>
            Each participant has a value of their own.{' '}
            <Link href={`/campaigns/${encodeURIComponent(campaignId)}?tab=participants`}>Look at participants</Link>
          </p>
        </Section>
      ) : (
        <SharedValue campaignId={campaignId} scope={variable.scope} name={variable.name} />
      )}
    </>
  );
}

interface SharedValueProps {
  readonly campaignId: string;
  readonly scope: 'campaign' | 'app';
  readonly name: string;
}

function SharedValue({ campaignId, scope, name }: SharedValueProps) {
  const [{ app, from, to }] = useFilters(['app', 'from', 'to']);
  const query = scope === 'app' && app !== undefined ? { app_id: app } : {};
  const state = useRead('/v1/campaigns/{campaign_id}/participants/{sub}/state', {
    path: { campaign_id: campaignId, sub: NOBODY },
    query,
  });
  const list = useList('/v1/campaigns/{campaign_id}/variables/{scope}/{name}/history', {
    path: { campaign_id: campaignId, scope, name },
    query: { ...query, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
  });
  return (
    <>
      <Section title="Value now">
        <Loaded query={state}>{(answer) => <ValueText value={answer.state[scope][name]} />}</Loaded>
      </Section>
      <Section title="History">
        <FilterBar
          fields={[
            ...(scope === 'app' ? [{ name: 'app', label: 'App', kind: 'text', placeholder: 'default' } as const] : []),
            { name: 'from', label: 'From', kind: 'time' },
            { name: 'to', label: 'To', kind: 'time' },
          ]}
        />
        <HistoryTable list={list} empty={<Empty title="The value has not changed in the time that is kept" />} />
      </Section>
    </>
  );
}

function VariableActions({ campaignId, variable }: DeclaredProps) {
  const client = useQueryClient();
  const navigate = useLateNavigation();
  const [open, setOpen] = useState<'change' | 'archive'>();
  const close = (): void => setOpen(undefined);
  const { scope, name } = variable;
  if (!useScope('variables:write')) return null;
  const archive = async (): Promise<void> => {
    const options = { path: { campaign_id: campaignId }, body: { scope, name } };
    await api.post('/v1/campaigns/{campaign_id}/variables:archive', options);
    showToast({ title: 'The variable is archived.' });
    navigate(`/campaigns/${encodeURIComponent(campaignId)}`);
    await client.invalidateQueries();
  };
  return (
    <Inline>
      <Button onClick={() => setOpen('change')}>Change</Button>
      <Button kind="danger" onClick={() => setOpen('archive')}>
        Archive
      </Button>
      <Dialog title="Change the variable" open={open === 'change'} onClose={close} wide>
        <Notice>
          <p>Values that are stored stay. Limits must include all of them; what is left empty is removed.</p>
        </Notice>
        <VariableForm
          campaignId={campaignId}
          variable={variable}
          onCancel={close}
          onDefined={() => {
            close();
            void client.invalidateQueries();
          }}
        />
      </Dialog>
      <ConfirmDialog
        title="Archive this variable?"
        open={open === 'archive'}
        onClose={close}
        action="Archive variable"
        typed={name}
        onConfirm={archive}
      >
        <p>
          It disappears from listings and state, and nothing can change it. Its values are kept: defining it again
          brings them back.
        </p>
      </ConfirmDialog>
    </Inline>
  );
}
