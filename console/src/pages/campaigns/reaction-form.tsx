import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { ActionForm } from '../../design/form';
import { JsonEditor } from '../../design/json-editor';
import { Notice } from '../../design/notice';
import { ifThere, useOverwriteCheck } from '../../design/overwrite';
import { isName } from '../../design/path-name';
import { visibleText } from '../../design/visible-text';
import { useDraft } from '../../shell/drafts';
import { definitionOf, definitionText, parsedDefinition, type ReactionDefinition } from './reaction-definition';
import { RehearsalSection } from './rehearsal-section';

export type DefinedReaction = Schema<'DefinedReactionDto'>;

interface ReactionFormProps {
  readonly campaignId: string;
  readonly initial: ReactionDefinition;
  /** The reaction to change; absent for a new one. */
  readonly reaction?: Schema<'ReactionDto'>;
  /** Of what is written: it outlives the session, and a form that was closed without "Cancel". */
  readonly draftName: string;
  readonly onDefined: (defined: DefinedReaction) => void;
  readonly onCancel: () => void;
}

/** A definition as JSON, which can be rehearsed before it is in force. */
export function ReactionForm(props: ReactionFormProps) {
  const { campaignId, initial, reaction, draftName, onDefined, onCancel } = props;
  const client = useQueryClient();
  const { text, write, forget } = useDraft(draftName, definitionText(initial));
  const checkOverwrite = useOverwriteCheck(initial.name, reaction && definitionOf(reaction));
  const define = async (): Promise<void> => {
    const body = parsedDefinition(text);
    const name = nameIn(body);
    if (name !== undefined) await checkOverwrite(name, () => readDefinition(campaignId, name));
    const options = { path: { campaign_id: campaignId }, body };
    const defined = await api.post('/v1/campaigns/{campaign_id}/reactions:define', options);
    forget();
    await client.invalidateQueries();
    onDefined(defined);
  };
  const cancel = (): void => {
    forget();
    onCancel();
  };
  return (
    <>
      <ActionForm action="Define reaction" onSubmit={define} onCancel={cancel}>
        <JsonEditor label="Definition" rows={14} text={text} onChange={write} />
        <Notice>
          <p>
            It applies to events received from now on. <code>when</code> is a rule in JsonLogic over <code>event</code>;
            each path in <code>ops</code> is a variable of the campaign.
          </p>
        </Notice>
      </ActionForm>
      <RehearsalSection campaignId={campaignId} subject={() => ({ reaction: parsedDefinition(text) })} />
    </>
  );
}

/** Undefined where no reaction can have the name; the service says why. */
function nameIn(definition: unknown): string | undefined {
  const { name } = (definition ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && isName(name) ? name : undefined;
}

async function readDefinition(campaignId: string, name: string): Promise<ReactionDefinition | undefined> {
  const path = { campaign_id: campaignId, name };
  const found = await ifThere(api.get('/v1/campaigns/{campaign_id}/reactions/{name}', { path }));
  return found && definitionOf(found);
}

/** What of a definition has no effect, although it is in force. */
export function ReactionWarnings({ warnings }: Pick<DefinedReaction, 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <Notice tone="warning">
      <strong>In force, with {warnings.length === 1 ? 'a warning' : `${warnings.length} warnings`}</strong>
      <ul>
        {warnings.map(({ path, message }, index) => (
          <li key={index}>
            <code>{visibleText(path)}</code> {visibleText(message)}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
