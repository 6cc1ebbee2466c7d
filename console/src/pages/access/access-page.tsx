import { Route, Switch } from 'wouter';
import { Page } from '../../design/page';
import { Tabs } from '../../design/tabs';
import { AuditTab } from './audit-tab';
import { CredentialPage } from './credential-page';
import { CredentialsTab } from './credentials-tab';
import { IssuerPage } from './issuer-page';
import { IssuersTab } from './issuers-tab';
import { KeyPage } from './key-page';
import { KeysTab } from './keys-tab';

export function AccessPage() {
  return (
    <Switch>
      <Route path="/access/keys/:id">{({ id }) => <KeyPage key={id} id={id} />}</Route>
      <Route path="/access/issuers/:id">{({ id }) => <IssuerPage key={id} id={id} />}</Route>
      <Route path="/access/credentials/:id">{({ id }) => <CredentialPage key={id} id={id} />}</Route>
      <Route>
        <Page title="Access">
          <Tabs
            label="Access"
            tabs={[
              { id: 'keys', label: 'API keys', content: <KeysTab /> },
              { id: 'issuers', label: 'JWT issuers', content: <IssuersTab /> },
              { id: 'credentials', label: 'Service credentials', content: <CredentialsTab /> },
              { id: 'audit', label: 'Audit trail', content: <AuditTab /> },
            ]}
          />
        </Page>
      </Route>
    </Switch>
  );
}
