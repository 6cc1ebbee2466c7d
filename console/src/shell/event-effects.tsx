import { Link } from 'wouter';
import type { Schema } from '../api/api-types';
import { Section } from '../design/page';
import { visibleText } from '../design/visible-text';
import styles from './shell.module.css';

/** What came of an event: what reactions did with it, and to whom it is sent. Nothing where there is neither. */
export function EventEffects({ processing }: { readonly processing: Schema<'ProcessingDto'> }) {
  const { reactions, deliveries = [] } = processing;
  if (reactions.length + deliveries.length === 0) return null;
  return (
    <Section title="What came of it">
      <ul className={styles['effects']}>
        {reactions.map(({ campaignId, name, outcome, reason = '' }) => (
          <li key={`${campaignId} ${name}`}>
            Reaction{' '}
            <Link href={`/campaigns/${encodeURIComponent(campaignId)}/reactions/${encodeURIComponent(name)}`}>
              {visibleText(`${campaignId}: ${name}`)}
            </Link>{' '}
            {outcome.replaceAll('_', ' ')} {visibleText(reason)}
          </li>
        ))}
        {deliveries.map(({ webhookId, state, attemptCount }) => (
          <li key={webhookId}>
            Webhook <Link href={`/webhooks/${webhookId}`}>{webhookId}</Link> {state}, {attemptCount.toLocaleString()}{' '}
            {attemptCount === 1 ? 'attempt' : 'attempts'}
          </li>
        ))}
      </ul>
    </Section>
  );
}
