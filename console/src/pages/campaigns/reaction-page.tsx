import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { JsonView } from '../../design/json-view';
import { Page, Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { BackfillSection } from './backfill-section';
import { ReactionActions } from './reaction-actions';
import { definitionOf } from './reaction-definition';
import { ReactionForm, ReactionWarnings, type DefinedReaction } from './reaction-form';
import { ReactionOutcomes } from './reaction-outcomes';
import { ReactionState, type Reaction } from './reactions-tab';
import { RehearsalSection } from './rehearsal-section';

interface ReactionPageProps {
  readonly campaignId: string;
  readonly name: string;
}

export function ReactionPage({ campaignId, name }: ReactionPageProps) {
  const query = useRead('/v1/campaigns/{campaign_id}/reactions/{name}', { path: { campaign_id: campaignId, name } });
  const back = (
    <Link href={`/campaigns/${encodeURIComponent(campaignId)}?tab=reactions`}>{visibleText(campaignId)}</Link>
  );
  return (
    <Page title={visibleText(name)} actions={back}>
      <Loaded query={query}>{(reaction) => <Defined reaction={reaction} />}</Loaded>
    </Page>
  );
}

function Defined({ reaction }: { readonly reaction: Reaction }) {
  const [isEditing, setEditing] = useState(false);
  const [warnings, setWarnings] = useState<DefinedReaction['warnings']>([]);
  const { campaignId, name } = reaction;
  const definition = definitionOf(reaction);
  if (isEditing) {
    return (
      <ReactionForm
        campaignId={campaignId}
        initial={definition}
        onCancel={() => setEditing(false)}
        onDefined={(defined) => {
          setWarnings(defined.warnings);
          setEditing(false);
        }}
      />
    );
  }
  return (
    <>
      <ReactionActions reaction={reaction} onEdit={() => setEditing(true)} onDefined={setWarnings} />
      <ReactionWarnings warnings={warnings} />
      <Properties
        entries={[
          ['State', <ReactionState enabled={reaction.enabled} />],
          ['Events', visibleText(reaction.eventType)],
          ['Source', visibleText(reaction.source ?? 'any')],
          ['Applies from', <Time at={reaction.appliesFrom} exact />],
          ['Created', <Time at={reaction.createdAt} exact />],
          ['Changed', <Time at={reaction.updatedAt} exact />],
        ]}
      />
      <Section title="Definition">
        <JsonView value={definition} what="definition" />
      </Section>
      <ReactionOutcomes reaction={reaction} />
      <RehearsalSection campaignId={campaignId} subject={() => ({ name })} />
      <BackfillSection reaction={reaction} />
    </>
  );
}
