import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { JsonView } from '../../design/json-view';
import { Notice } from '../../design/notice';
import { Page, Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { BackfillSection } from './backfill-section';
import { ReactionActions } from './reaction-actions';
import { definitionOf } from './reaction-definition';
import { ReactionForm, ReactionWarnings, type DefinedReaction } from './reaction-form';
import { ReactionOutcomes } from './reaction-outcomes';
import { hrefOfReaction, ReactionState, type Reaction } from './reactions-tab';
import { RehearsalSection } from './rehearsal-section';

interface ReactionPageProps {
  readonly campaignId: string;
  readonly name: string;
}

export function ReactionPage({ campaignId, name }: ReactionPageProps) {
  const query = useRead('/v1/campaigns/{campaign_id}/reactions/{name}', { path: { campaign_id: campaignId, name } });
  const [isEditing, setEditing] = useState(false);
  const [warnings, setWarnings] = useState<DefinedReaction['warnings']>([]);
  const [other, setOther] = useState<Reaction>();
  const back = { href: `/campaigns/${encodeURIComponent(campaignId)}?tab=reactions`, label: visibleText(campaignId) };
  const edit = (): void => setEditing(true);
  const onDefined = (defined: DefinedReaction): void => {
    setWarnings(defined.warnings);
    setOther(defined.reaction.name === name ? undefined : defined.reaction);
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
              reaction={reaction}
              // What somebody else has changed meanwhile is no longer what was being edited.
              draftName={`reactions/${campaignId}/${name}/${reaction.updatedAt}`}
              onCancel={() => setEditing(false)}
              onDefined={onDefined}
            />
          ) : (
            <>
              {other !== undefined && <OtherDefined name={name} reaction={other} />}
              <ReactionWarnings warnings={warnings} />
              <Defined reaction={reaction} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The name tells reactions apart: with another name another one is defined, and both are in force. */
function OtherDefined({ name, reaction }: { readonly name: string; readonly reaction: Reaction }) {
  return (
    <Notice tone="warning">
      <p>
        The definition had another name. So the reaction <Link href={hrefOfReaction(reaction)}>{reaction.name}</Link> is
        defined, and {visibleText(name)} stays as it is. Delete the one that you do not need.
      </p>
    </Notice>
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
