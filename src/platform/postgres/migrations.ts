import { Foundation1764000000000 } from './migrations/1-foundation';
import { Callers1764000000001 } from './migrations/2-callers';
import { Variables1764000000002 } from './migrations/3-variables';
import { State1764000000003 } from './migrations/4-state';
import { EventTypes1764000000004 } from './migrations/5-event-types';
import { Review1764000000005 } from './migrations/6-review';
import { Profiles1764000000006 } from './migrations/7-profiles';
import { Processing1764000000007 } from './migrations/8-processing';
import { Reactions1764000000008 } from './migrations/9-reactions';
import { QueuedBundles1764000000009 } from './migrations/10-queued-bundles';
import { QueueTurns1764000000010 } from './migrations/11-queue-turns';
import { PersonalPropertyNames1764000000011 } from './migrations/12-personal-property-names';
import { ReviewLimits1764000000012 } from './migrations/13-review-limits';
import { SharedIssuers1764000000013 } from './migrations/14-shared-issuers';
import { UndoneMergeSides1764000000014 } from './migrations/15-undone-merge-sides';
import { SecretsKeyCheck1764000000015 } from './migrations/16-secrets-key-check';
import { OneClock1764000000016 } from './migrations/17-one-clock';
import { TrimmedSubjects1764000000017 } from './migrations/18-trimmed-subjects';
import { WaitingEvents1764000000018 } from './migrations/19-waiting-events';
import { ParticipantIds1764000000019 } from './migrations/20-participant-ids';
import { IngestStatistics1764000000020 } from './migrations/21-ingest-statistics';
import { EventRetention1764000000021 } from './migrations/22-event-retention';
import { History1764000000022 } from './migrations/23-history';
import { LimitsAndPeriods1764000000023 } from './migrations/24-limits-and-periods';
import { ReactionBackfills1764000000024 } from './migrations/25-reaction-backfills';
import { Webhooks1764000000025 } from './migrations/26-webhooks';
import { ConsoleSessions1764000000026 } from './migrations/27-console-sessions';
import { ConsoleOidcGrants1764000000027 } from './migrations/28-console-oidc-grants';
import { WebhookReplays1764000000028 } from './migrations/29-webhook-replays';
import { WebhookChanges1764000000029 } from './migrations/30-webhook-changes';
import { ConfirmedLimits1764000000030 } from './migrations/31-confirmed-limits';
import { CampaignListAndAuditLog1764000000031 } from './migrations/32-campaign-list-and-audit-log';
import { AuditOfRecords1764000000032 } from './migrations/33-audit-of-records';
import { ReviewDismissals1764000000033 } from './migrations/34-review-dismissals';
import { OlderWebhookSecret1764000000034 } from './migrations/35-older-webhook-secret';
import { WebhooksEnabledAt1764000000035 } from './migrations/36-webhooks-enabled-at';
import { UnlinkedIdentifiers1764000000036 } from './migrations/37-unlinked-identifiers';
import { ReviewStages1764000000037 } from './migrations/38-review-stages';

/** Every migration, oldest first. Append-only: a migration that is on main is never edited. */
export const MIGRATIONS = [
  Foundation1764000000000,
  Callers1764000000001,
  Variables1764000000002,
  State1764000000003,
  EventTypes1764000000004,
  Review1764000000005,
  Profiles1764000000006,
  Processing1764000000007,
  Reactions1764000000008,
  QueuedBundles1764000000009,
  QueueTurns1764000000010,
  PersonalPropertyNames1764000000011,
  ReviewLimits1764000000012,
  SharedIssuers1764000000013,
  UndoneMergeSides1764000000014,
  SecretsKeyCheck1764000000015,
  OneClock1764000000016,
  TrimmedSubjects1764000000017,
  WaitingEvents1764000000018,
  ParticipantIds1764000000019,
  IngestStatistics1764000000020,
  EventRetention1764000000021,
  History1764000000022,
  LimitsAndPeriods1764000000023,
  ReactionBackfills1764000000024,
  Webhooks1764000000025,
  ConsoleSessions1764000000026,
  ConsoleOidcGrants1764000000027,
  WebhookReplays1764000000028,
  WebhookChanges1764000000029,
  ConfirmedLimits1764000000030,
  CampaignListAndAuditLog1764000000031,
  AuditOfRecords1764000000032,
  ReviewDismissals1764000000033,
  OlderWebhookSecret1764000000034,
  WebhooksEnabledAt1764000000035,
  UnlinkedIdentifiers1764000000036,
  ReviewStages1764000000037,
];
