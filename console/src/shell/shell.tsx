import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation, useRoute } from 'wouter';
import { signOut } from '../api/session';
import { useAction } from '../design/action';
import { Button } from '../design/button';
import { classes } from '../design/classes';
import { Page } from '../design/page';
import { Failed, Loading } from '../design/state-views';
import { visibleText } from '../design/visible-text';
import { EventDialog } from './event-dialog';
import { NOBODY, tellOtherTabs } from './other-tabs';
import { PageErrors } from './page-errors';
import { skipToPage, useFocusKept, useFocusOnPage } from './page-focus';
import { ROUTES, type ConsoleRoute } from './routes';
import { useSession } from './session-context';
import { Shortcuts } from './shortcuts';
import styles from './shell.module.css';
import { ThemeSwitch } from './theme-switch';

/** What surrounds every page: navigation, who is signed in, theme and keys. */
export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#main" onClick={skipToPage}>
        Skip to content
      </a>
      <header className={styles['side']}>
        <div className={styles['brand']}>
          <Workspace />
          <Button
            className={styles['menuButton']}
            aria-expanded={isMenuOpen}
            aria-controls="navigation"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            Menu
          </Button>
        </div>
        <div id="navigation" className={classes(styles['menu'], isMenuOpen && styles['open'])}>
          <nav aria-label="Pages">
            {ROUTES.map((route) => (
              <PageLink key={route.path} route={route} onFollow={() => setMenuOpen(false)} />
            ))}
          </nav>
          <Account />
        </div>
      </header>
      <main id="main" tabIndex={-1} className={styles['main']}>
        <Pages />
      </main>
      <EventDialog />
    </div>
  );
}

function Workspace() {
  const { workspace } = useSession();
  return (
    <p className={styles['workspace']}>
      <span>Workspace</span>
      <strong title={visibleText(workspace)}>{visibleText(workspace)}</strong>
    </p>
  );
}

function PageLink({ route, onFollow }: { readonly route: ConsoleRoute; readonly onFollow: () => void }) {
  const [isHere] = useRoute(`${route.path}/*?`);
  return (
    <Link href={route.path} aria-current={isHere ? 'page' : undefined} onClick={onFollow}>
      {route.label}
      <kbd aria-hidden="true">g {route.key}</kbd>
    </Link>
  );
}

function Account() {
  const client = useQueryClient();
  const { name } = useSession();
  const { isBusy, error, run } = useAction();
  const leave = async (): Promise<void> => {
    await signOut();
    tellOtherTabs(NOBODY);
    client.clear();
    location.reload();
  };
  return (
    <div className={styles['account']}>
      <span className={styles['name']} title={visibleText(name)}>
        {visibleText(name)}
      </span>
      <div>
        <ThemeSwitch />
        <Shortcuts />
        <Button kind="quiet" busy={isBusy} onClick={() => void run(leave)}>
          Sign out
        </Button>
      </div>
      {error !== undefined && <Failed error={error} />}
    </div>
  );
}

function Pages() {
  const [location] = useLocation();
  useFocusOnPage(location);
  useFocusKept();
  return (
    <PageErrors key={location}>
      <Suspense fallback={<Loading />}>
        <Switch>
          {ROUTES.map(({ path, page }) => (
            <Route key={path} path={`${path}/*?`} component={page} />
          ))}
          <Route path="/">
            <Redirect to="/overview" replace />
          </Route>
          <Route>
            <Page title="No such page">
              <p>
                <Link href="/overview">Go to the overview</Link>
              </p>
            </Page>
          </Route>
        </Switch>
      </Suspense>
    </PageErrors>
  );
}
