import { useState } from 'react';
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
  const [isEditing, setEditing] = useState(false);
  const [warnings, setWarnings] = useState<DefinedReaction['warnings']>([]);
  const back = { href: `/campaigns/${encodeURIComponent(campaignId)}?tab=reactions`, label: visibleText(campaignId) };
  const edit = (): void => setEditing(true);
  const onDefined = (defined: DefinedReaction): void => {
    setWarnings(defined.warnings);
    setEditing(false);
  };
  return (
    <Page
      title={visibleText(name)}
      back={back}
      actions={
        query.data && !isEditing && <ReactionActions reaction={query.data} onEdit={edit} onDefined={setWarnings} />
      }
    >
      <Loaded query={query}>
        {(reaction) =>
          isEditing ? (
            <ReactionForm
              campaignId={campaignId}
              initial={definitionOf(reaction)}
              onCancel={() => setEditing(false)}
              onDefined={onDefined}
            />
          ) : (
            <>
              <ReactionWarnings warnings={warnings} />
              <Defined reaction={reaction} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Defined({ reaction }: { readonly reaction: Reaction }) {
  const { campaignId, name } = reaction;
  const definition = definitionOf(reaction);
  return (
    <>
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
