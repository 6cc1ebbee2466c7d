import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { DataTable, type Column } from '../../design/data-table';
import { Dialog } from '../../design/dialog';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Section } from '../../design/page';
import { Empty, Failed, Loaded } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { limitsOf, periodOf, ValueText, type Value, type Variable } from './values';
import { VariableForm } from './variable-form';

/** Shared values are part of every participant's state, also of one who has none of their own. */
export const NOBODY = '-';

interface Row extends Variable {
  /** Absent: each participant has an own one, or the caller may not read state. */
  readonly value?: Value;
}

interface VariablesTabProps {
  readonly campaignId: string;
}

export function VariablesTab({ campaignId }: VariablesTabProps) {
  const mayReadState = useScope('state:read');
  const [{ app }] = useFilters(['app']);
  const path = { campaign_id: campaignId };
  const variables = useRead('/v1/campaigns/{campaign_id}/variables', { path });
  const shared = useRead(
    '/v1/campaigns/{campaign_id}/participants/{sub}/state',
    { path: { ...path, sub: NOBODY }, query: app === undefined ? {} : { app_id: app } },
    { enabled: mayReadState },
  );
  const withValue = (variable: Variable): Row => {
    if (variable.scope === 'user' || shared.data === undefined) return variable;
    return { ...variable, value: shared.data.state[variable.scope][variable.name] };
  };
  return (
    <Section title="Variables" actions={<DefineVariable campaignId={campaignId} />}>
      <Loaded query={variables}>
        {({ variables: all }) =>
          all.length === 0 ? (
            <NoVariables campaignId={campaignId} />
          ) : (
            <>
              {all.some(({ scope }) => scope === 'app') && (
                <FilterBar fields={[{ name: 'app', label: 'Values of app', kind: 'text', placeholder: 'default' }]} />
              )}
              {shared.error !== null && <Failed error={shared.error} onRetry={() => void shared.refetch()} />}
              <DataTable
                label="List of variables"
                columns={columnsOf(campaignId, app)}
                rows={all.map(withValue)}
                rowKey={({ scope, name }) => `${scope}.${name}`}
                rowHref={(variable) => hrefOf(campaignId, variable, app)}
              />
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function columnsOf(campaignId: string, app: string | undefined): readonly Column<Row>[] {
  return [
    {
      id: 'path',
      header: 'Variable',
      cell: (variable) => (
        <Link href={hrefOf(campaignId, variable, app)}>
          <code>
            state.{variable.scope}.{variable.name}
          </code>
        </Link>
      ),
    },
    { id: 'type', header: 'Type', cell: ({ type }) => type },
    {
      id: 'value',
      header: 'Value now',
      cell: ({ scope, value }) => (scope === 'user' ? 'each participant’s' : <ValueText value={value} />),
    },
    { id: 'default', header: 'Default', cell: (variable) => <ValueText value={variable.default} /> },
    { id: 'limits', header: 'Limits', cell: limitsOf },
    { id: 'period', header: 'Starts again', cell: periodOf },
    { id: 'description', header: 'Description', cell: ({ description }) => visibleText(description ?? ''), grow: true },
  ];
}

function hrefOf(campaignId: string, { scope, name }: Variable, app?: string): string {
  const search = app === undefined ? '' : `?app=${encodeURIComponent(app)}`;
  return `/campaigns/${encodeURIComponent(campaignId)}/variables/${scope}/${name}${search}`;
}

function DefineVariable({ campaignId }: VariablesTabProps) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  if (!useScope('variables:write')) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Define variable
      </Button>
      <Dialog title="Define a variable" open={isOpen} onClose={() => setOpen(false)} wide>
        <VariableForm
          campaignId={campaignId}
          onCancel={() => setOpen(false)}
          onDefined={() => {
            setOpen(false);
            void client.invalidateQueries();
          }}
        />
      </Dialog>
    </>
  );
}

function NoVariables({ campaignId }: VariablesTabProps) {
  return (
    <Empty title="The campaign declares no variable yet">
      <p>
        Values can be changed once they are declared: who has them, their type, and what holds before the first change.
      </p>
      <Curl
        method="POST"
        path={`/v1/campaigns/${campaignId}/variables:define`}
        body={{ scope: 'user', name: 'points', type: 'number', default: 0 }}
      />
    </Empty>
  );
}
