import { useState } from 'react';
import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { useLateNavigation } from '../../design/action';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { Dialog, DialogActions } from '../../design/dialog';
import { Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { ReactionForm, ReactionWarnings, type DefinedReaction } from './reaction-form';
import { NEW_REACTION } from './reaction-definition';

export type Reaction = Schema<'ReactionDto'>;

interface ReactionsTabProps {
  readonly campaignId: string;
}

export function ReactionsTab({ campaignId }: ReactionsTabProps) {
  const list = useList('/v1/campaigns/{campaign_id}/reactions', { path: { campaign_id: campaignId } });
  return (
    <Section title="Reactions" actions={<DefineReaction campaignId={campaignId} />}>
      <PagedTable
        label="List of reactions"
        columns={COLUMNS}
        list={list}
        rowKey={({ name }) => name}
        rowHref={hrefOfReaction}
        empty={<NoReactions campaignId={campaignId} />}
      />
    </Section>
  );
}

const COLUMNS: readonly Column<Reaction>[] = [
  { id: 'name', header: 'Reaction', cell: (reaction) => <Link href={hrefOfReaction(reaction)}>{reaction.name}</Link> },
  { id: 'state', header: 'State', cell: ({ enabled }) => <ReactionState enabled={enabled} /> },
  { id: 'type', header: 'Events', cell: ({ eventType }) => visibleText(eventType) },
  { id: 'source', header: 'Source', cell: ({ source }) => visibleText(source ?? 'any') },
  { id: 'ops', header: 'Changes', cell: ({ ops }) => <code>{ops.map(textOfOperation).join(', ')}</code>, grow: true },
  { id: 'updated', header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export function ReactionState({ enabled }: { readonly enabled: boolean }) {
  return enabled ? <Badge tone="good">on</Badge> : <Badge>off</Badge>;
}

function textOfOperation({ op, path }: Reaction['ops'][number]): string {
  return visibleText(`${op} ${path.replace(/^state\./, '')}`);
}

export function hrefOfReaction({ campaignId, name }: Reaction): string {
  return `/campaigns/${encodeURIComponent(campaignId)}/reactions/${encodeURIComponent(name)}`;
}

function DefineReaction({ campaignId }: ReactionsTabProps) {
  const navigate = useLateNavigation();
  const [isOpen, setOpen] = useState(false);
  const [defined, setDefined] = useState<DefinedReaction>();
  if (!useScope('reactions:write')) return null;
  return (
    <>
      <Button
        kind="primary"
        onClick={() => {
          // The warnings of the last one may have been left by closing the dialog.
          setDefined(undefined);
          setOpen(true);
        }}
      >
        Define reaction
      </Button>
      <Dialog title="Define a reaction" open={isOpen} onClose={() => setOpen(false)} wide>
        {defined === undefined ? (
          <ReactionForm
            campaignId={campaignId}
            initial={NEW_REACTION}
            draftName={`reactions/${campaignId}/_new`}
            onCancel={() => setOpen(false)}
            onDefined={(answer) => {
              if (answer.warnings.length === 0) navigate(hrefOfReaction(answer.reaction));
              else setDefined(answer);
            }}
          />
        ) : (
          <>
            <ReactionWarnings warnings={defined.warnings} />
            <DialogActions>
              <Button kind="primary" onClick={() => navigate(hrefOfReaction(defined.reaction))}>
                Open the reaction
              </Button>
            </DialogActions>
          </>
        )}
      </Dialog>
    </>
  );
}

function NoReactions({ campaignId }: ReactionsTabProps) {
  return (
    <Empty title="The campaign has no reaction yet">
      <p>A reaction changes values when an event arrives. Declare the variables that it changes first.</p>
      <Curl method="POST" path={`/v1/campaigns/${campaignId}/reactions:define`} body={NEW_REACTION} />
    </Empty>
  );
}
