import { Route, Switch } from 'wouter';
import { CampaignList } from './campaign-list';
import { CampaignPage } from './campaign-page';
import { ReactionPage } from './reaction-page';
import { VariablePage } from './variable-page';

export function CampaignsPage() {
  return (
    <Switch>
      <Route path="/campaigns/:campaign/reactions/:name">
        {({ campaign, name }) => <ReactionPage key={`${campaign}/${name}`} campaignId={campaign} name={name} />}
      </Route>
      <Route path="/campaigns/:campaign/variables/:scope/:name">
        {({ campaign, scope, name }) => <VariablePage campaignId={campaign} scope={scope} name={name} />}
      </Route>
      <Route path="/campaigns/:campaign">
        {({ campaign }) => <CampaignPage key={campaign} campaignId={campaign} />}
      </Route>
      <Route>
        <CampaignList />
      </Route>
    </Switch>
  );
}
