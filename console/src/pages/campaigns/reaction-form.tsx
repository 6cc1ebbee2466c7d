import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { ActionForm } from '../../design/form';
import { JsonEditor } from '../../design/json-editor';
import { Notice } from '../../design/notice';
import { visibleText } from '../../design/visible-text';
import { useDraft } from '../../shell/drafts';
import { definitionText, parsedDefinition, type ReactionDefinition } from './reaction-definition';
import { RehearsalSection } from './rehearsal-section';

export type DefinedReaction = Schema<'DefinedReactionDto'>;

interface ReactionFormProps {
  readonly campaignId: string;
  readonly initial: ReactionDefinition;
  /** Of what is written: it outlives the session, and a form that was closed without "Cancel". */
  readonly draftName: string;
  readonly onDefined: (defined: DefinedReaction) => void;
  readonly onCancel: () => void;
}

/** A definition as JSON, which can be rehearsed before it is in force. */
export function ReactionForm({ campaignId, initial, draftName, onDefined, onCancel }: ReactionFormProps) {
  const client = useQueryClient();
  const { text, write, forget } = useDraft(draftName, definitionText(initial));
  const define = async (): Promise<void> => {
    const options = { path: { campaign_id: campaignId }, body: parsedDefinition(text) };
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
