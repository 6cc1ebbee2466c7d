import { Page } from '../../design/page';
import { Tabs } from '../../design/tabs';
import { visibleText } from '../../design/visible-text';
import { ParticipantsTab } from './participants-tab';
import { ReactionsTab } from './reactions-tab';
import { VariablesTab } from './variables-tab';

export function CampaignPage({ campaignId }: { readonly campaignId: string }) {
  return (
    <Page title={visibleText(campaignId)} back={{ href: '/campaigns', label: 'All campaigns' }}>
      <Tabs
        label="Campaign"
        tabs={[
          { id: 'variables', label: 'Variables', content: <VariablesTab campaignId={campaignId} /> },
          { id: 'participants', label: 'Participants', content: <ParticipantsTab campaignId={campaignId} /> },
          { id: 'reactions', label: 'Reactions', content: <ReactionsTab campaignId={campaignId} /> },
        ]}
      />
    </Page>
  );
}
