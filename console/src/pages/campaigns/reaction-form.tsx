import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { ActionForm } from '../../design/form';
import { JsonEditor } from '../../design/json-editor';
import { Notice } from '../../design/notice';
import { visibleText } from '../../design/visible-text';
import { definitionText, parsedDefinition, type ReactionDefinition } from './reaction-definition';
import { RehearsalSection } from './rehearsal-section';

export type DefinedReaction = Schema<'DefinedReactionDto'>;

interface ReactionFormProps {
  readonly campaignId: string;
  readonly initial: ReactionDefinition;
  readonly onDefined: (defined: DefinedReaction) => void;
  readonly onCancel: () => void;
}

/** A definition as JSON, which can be rehearsed before it is in force. */
export function ReactionForm({ campaignId, initial, onDefined, onCancel }: ReactionFormProps) {
  const client = useQueryClient();
  const [text, setText] = useState(() => definitionText(initial));
  const define = async (): Promise<void> => {
    const options = { path: { campaign_id: campaignId }, body: parsedDefinition(text) };
    const defined = await api.post('/v1/campaigns/{campaign_id}/reactions:define', options);
    await client.invalidateQueries();
    onDefined(defined);
  };
  return (
    <>
      <ActionForm action="Define reaction" onSubmit={define} onCancel={onCancel}>
        <JsonEditor label="Definition" rows={14} text={text} onChange={setText} />
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
