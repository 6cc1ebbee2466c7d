import { lazy, type ComponentType } from 'react';

/** A page of the console. Everything below its path is its own. */
export interface ConsoleRoute {
  readonly path: string;
  readonly label: string;
  /** After `g`, this key leads to the page. */
  readonly key: string;
  readonly page: ComponentType;
}

export const ROUTES: readonly ConsoleRoute[] = [
  {
    path: '/overview',
    label: 'Overview',
    key: 'o',
    page: lazy(() => import('../pages/overview/overview-page').then(({ OverviewPage }) => ({ default: OverviewPage }))),
  },
  {
    path: '/live',
    label: 'Live events',
    key: 'l',
    page: lazy(() => import('../pages/live/live-page').then(({ LivePage }) => ({ default: LivePage }))),
  },
  {
    path: '/review',
    label: 'Review',
    key: 'r',
    page: lazy(() => import('../pages/review/review-page').then(({ ReviewPage }) => ({ default: ReviewPage }))),
  },
  {
    path: '/customers',
    label: 'Customers',
    key: 'c',
    page: lazy(() =>
      import('../pages/customers/customers-page').then(({ CustomersPage }) => ({ default: CustomersPage })),
    ),
  },
  {
    path: '/event-types',
    label: 'Event types',
    key: 'e',
    page: lazy(() =>
      import('../pages/event-types/event-types-page').then(({ EventTypesPage }) => ({ default: EventTypesPage })),
    ),
  },
  {
    path: '/campaigns',
    label: 'Campaigns',
    key: 'a',
    page: lazy(() =>
      import('../pages/campaigns/campaigns-page').then(({ CampaignsPage }) => ({ default: CampaignsPage })),
    ),
  },
  {
    path: '/webhooks',
    label: 'Webhooks',
    key: 'w',
    page: lazy(() => import('../pages/webhooks/webhooks-page').then(({ WebhooksPage }) => ({ default: WebhooksPage }))),
  },
  {
    path: '/access',
    label: 'Access',
    key: 'k',
    page: lazy(() => import('../pages/access/access-page').then(({ AccessPage }) => ({ default: AccessPage }))),
  },
];
