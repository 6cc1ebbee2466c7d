// Made of docs/openapi.json by npm run openapi; never edited.
export interface paths {
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers 200 while the process runs. It does not check the database, so that an outage there restarts no process. */
        get: operations["checkLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers 200 while the process can serve; 503 while it stops, or the database is away, read-only, not migrated or minutes off. */
        get: operations["checkReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the metrics of this process, or of all processes on its port, in the text format of Prometheus. */
        get: operations["readMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/external-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes one external event, once however often it is sent. */
        post: operations["takeExternalEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/external-events:batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a batch of external events, each by itself. */
        post: operations["takeExternalEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists stored events by their time of receipt; with `source` and `externalEventId`, the one of that name. */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one stored event. */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists problems, newest first; of long payloads the beginning. */
        get: operations["listReviewEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries:summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts the problems that match, by reason, source and event type. */
        get: operations["summarizeReviewEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one problem with its payload, up to 262,144 characters of it. */
        get: operations["getReviewEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries/{id}:dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Closes an open entry that needs no action. Has no effect on a closed entry. */
        post: operations["dismissReviewEntry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries:dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts to close all open entries that match the filter now. Entries whose problem occurs later stay open. */
        post: operations["dismissReviewEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-dismissals/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the progress of a bulk dismissal. */
        get: operations["getReviewDismissal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-dismissals/{jobId}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a bulk dismissal; what it has closed stays closed. Has no effect on a finished one. */
        post: operations["cancelReviewDismissal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runtime/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the value of every declared variable. */
        get: operations["readState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runtime/state:mutate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes declared variables, wholly or not at all, and once for each `mutation_id`. */
        post: operations["mutateState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/runtime/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the value of every variable that the campaign declares. */
        get: operations["readCampaignState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/runtime/state:mutate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes variables that the campaign declares, wholly or not at all, and once for each `mutation_id`. */
        post: operations["mutateCampaignState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/participants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the participants who have `user` values in a campaign, newest first, with these values. */
        get: operations["listParticipants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/participants/{sub}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a participant's state to backends and operators, with the system fields. */
        get: operations["readParticipantState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/participants/{sub}/state:mutate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes a participant's state for backends and operators, by the same rules as for participants. */
        post: operations["mutateParticipantState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/participants/{sub}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the changes of a participant's own values, newest first. */
        get: operations["listParticipantHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/variables/{scope}/{name}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the changes of a value that participants share, newest first. */
        get: operations["listSharedHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the campaigns of the workspace, newest first, also those whose variables are all archived. */
        get: operations["listCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/variables:define": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Declares a variable, or changes all but its type. Limits must include every value that is stored. */
        post: operations["defineVariable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the declared variables of a campaign; an unknown campaign has none. */
        get: operations["listVariables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/variables:archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a variable out of listings and state; its values are kept, and defining it again brings them back. */
        post: operations["archiveVariable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes one customer event, once however often it is sent. */
        post: operations["takeCdpEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/events/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a batch of customer events, each by itself. */
        post: operations["takeCdpEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/event-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists event types, newest first, each with its current version. */
        get: operations["listEventTypes"];
        put?: never;
        /** Registers an event type, or its next version. */
        post: operations["registerEventType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/event-types:check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Shows what a registration would do and, with `events:read`, how many recent events would pass. Writes nothing. */
        post: operations["checkEventType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/event-types:infer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drafts an event type from the newest 400 events of its name that the key may read. Writes nothing. */
        post: operations["inferEventType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/event-types/{eventType}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows an event type with its versions. */
        get: operations["getEventType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/event-types/{eventType}/json-schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the schema of its events' properties, as JSON Schema (draft 2020-12). */
        get: operations["getEventTypeJsonSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/event-types/{eventType}:deprecate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deprecates an event type. Its events are still accepted and open one review warning a day. Idempotent. */
        post: operations["deprecateEventType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles:lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds the customer with an identifier. */
        post: operations["lookUpProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists customers, newest first; merged profiles are part of the surviving one. */
        get: operations["listProfiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a customer; a merged profile's id leads to the surviving one. */
        get: operations["getProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the events of a customer by `occurredAt`, including those of merged profiles. */
        get: operations["listProfileEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles/{id}/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the campaigns in which a customer (the EXTERNAL identifier) has `user` values, with these values, by campaign. */
        get: operations["listProfileCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles/{id}/merges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the merges of a customer, newest first, including undone ones. */
        get: operations["listProfileMerges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/merges/{id}:undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes a merge for good: the two customers never merge automatically again. Idempotent. */
        post: operations["undoMerge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles:export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exports all data of the person with an identifier, unmasked. Participants without events are found by their `sub`. */
        post: operations["exportPerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles/{id}:export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exports all data of a customer, unmasked, as NDJSON. */
        post: operations["exportProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles/{id}:erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erases a person for good, and refuses their events from now on. Idempotent. */
        post: operations["eraseProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/profiles:erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erases the person with an identifier for good. Participants without events are found by their `sub`. */
        post: operations["erasePerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cdp/erasures:lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts events of an erased person again, by any of their identifiers. Erased data stay erased. */
        post: operations["liftErasure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processing/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows how many events wait to be processed, and how many could not be. */
        get: operations["summarizeProcessing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries/{id}:replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends the event of an open entry again, with its id and time of receipt. A payload needs its family's write scope. */
        post: operations["replayReviewEntry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-entries:replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a replay of all open refusals that match the filter: at most 100,000, within the caller's rate limit. */
        post: operations["replayReviewEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-replays/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the progress of a bulk replay. */
        get: operations["getReviewReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/review-replays/{jobId}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a bulk replay; what it has sent stays. Has no effect on a finished one. */
        post: operations["cancelReviewReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows how long the workspace keeps its events, and how far the removal of older ones is. */
        get: operations["getRetention"];
        /** Changes how long the workspace keeps its events. Older ones are removed from now on, and never come back. */
        put: operations["changeRetention"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats/ingest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts the events of a range in steps: accepted ones by receipt, duplicates and refusals by their answer. */
        get: operations["getIngestStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions:define": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Defines how a campaign reacts to events from now on. Reading personal data requires `pii:read`, too. */
        post: operations["defineReaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the reactions of a campaign, newest first. */
        get: operations["listReactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one reaction. */
        get: operations["getReaction"];
        put?: never;
        post?: never;
        /** Deletes a reaction; the values that it changed stay. */
        delete: operations["deleteReaction"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions/{name}:backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Applies a reaction to events received before it, once each; with `dryRun`, adds up what would change. */
        post: operations["startBackfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions/{name}/backfills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the backfills of a reaction, newest first. */
        get: operations["listBackfills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions/{name}/backfills/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the progress of a backfill. */
        get: operations["getBackfill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions/{name}/backfills/{jobId}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a backfill; what it has done stays. */
        post: operations["cancelBackfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaign_id}/reactions:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Shows what a reaction would do with events, each by itself, and why. Writes nothing. */
        post: operations["testReaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the endpoints of the workspace, newest first. */
        get: operations["listWebhooks"];
        put?: never;
        /** Creates an endpoint that events are sent to from now on; the secret is shown in this answer only. */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one endpoint. */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** Deletes an endpoint with its deliveries; what was not sent yet is not sent any more. */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /** Changes an endpoint. What sends personal data takes the scope `pii:read` as well. */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{id}:rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a new secret, shown in this answer only. Each of the last two before it signs for 24 hours, too. */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}:enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enables an endpoint: what was kept is sent, in the order of each customer. */
        post: operations["enableWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}:disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disables an endpoint: events are kept for it, and not sent. */
        post: operations["disableWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the deliveries of an endpoint with their attempts, newest first. Done ones are kept for 30 days. */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{delivery_id}:retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a delivery now; one that is done is sent again, with the same `webhook-id`. */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a test call, and answers with what came of it. Nothing is stored, and it is not repeated. */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}:replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delivers stored events of a time range that fit the rules of an endpoint, also those that it got before. */
        post: operations["startWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the replays of an endpoint, newest first. */
        get: operations["listWebhookReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/replays/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the progress of a replay. */
        get: operations["getWebhookReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/replays/{jobId}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a replay; what it has queued is delivered. */
        post: operations["cancelWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the workspace's API keys, newest first; revoked and expired ones too. */
        get: operations["listApiKeys"];
        put?: never;
        /** Creates an API key; its plaintext is shown in this answer only. */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one API key. */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists what was done to an API key, newest first. */
        get: operations["listApiKeyAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}:rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replaces an API key by a new one of the same configuration; the old one is revoked, the new one shown in this answer only. */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}:revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revokes an API key for good; doing it again changes nothing. */
        post: operations["revokeApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jwt-issuers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the issuers of the workspace, newest first. */
        get: operations["listJwtIssuers"];
        put?: never;
        /** Registers an issuer of participants' tokens. */
        post: operations["createJwtIssuer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jwt-issuers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one issuer. */
        get: operations["getJwtIssuer"];
        /** Replaces all of an issuer but `issuer` and `audience`, without a gap. Without a source of keys the keys stay. */
        put: operations["changeJwtIssuer"];
        post?: never;
        /** Deletes an issuer: its tokens are refused from now on. */
        delete: operations["deleteJwtIssuer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists who did what to records, newest first. Entries of webhooks and retention need `webhooks:read` and `admin`. */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the workspace's service credentials, newest first; revoked ones too. */
        get: operations["listServiceCredentials"];
        put?: never;
        /** Creates a credential that signs requests of the external-events family; the secret of an HMAC is shown in this answer only. */
        post: operations["createServiceCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-credentials/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one service credential. */
        get: operations["getServiceCredential"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-credentials/{id}:revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revokes a service credential for good; doing it again changes nothing. */
        post: operations["revokeServiceCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        HealthDto: {
            /**
             * @description All is well; anything else is a problem document.
             * @enum {string}
             */
            status: "ok";
        };
        IdentityReferenceDto: {
            /**
             * @description The kind of identifier, in any case: EXTERNAL (or external_user_id), EMAIL, PHONE, DEVICE (or device_key).
             * @example EMAIL
             */
            type: string;
            /**
             * @description The identifier.
             * @example jane@example.com
             */
            value: string;
        };
        ExternalEventDto: {
            /**
             * @description Anything more that campaigns need: JSON of at most 8 levels and 300 keys. The top of this document limits its bytes.
             * @example {
             *       "amount": 29.33,
             *       "currency": "USD"
             *     }
             */
            attributes?: {
                [key: string]: unknown;
            };
            /**
             * @description The system that the event comes from.
             * @example shop.orders
             */
            source: string;
            /**
             * @description The source's own id of the fact; the same in every repetition.
             * @example order-4711
             */
            external_event_id: string;
            /**
             * @description What happened, in the sender's words.
             * @example purchase
             */
            type: string;
            /**
             * @description When it happened: ISO 8601 with an offset or Z; absent: when it is received.
             * @example 2026-01-02T03:04:05Z
             */
            occurred_at?: string;
            identity: components["schemas"]["IdentityReferenceDto"];
        };
        DuplicateResultDto: {
            /** @enum {string} */
            status: "duplicate";
            /** @description The id of the stored event. */
            original_event_id: string;
        };
        AcceptedResultDto: {
            /** @enum {string} */
            status: "accepted";
            /** @description The event's id in this service; opaque. */
            event_id: string;
        };
        ExternalEventBatchDto: {
            /** @description One event or more; the top of this document says how many at most. */
            items: components["schemas"]["ExternalEventDto"][];
        };
        /** @enum {string} */
        ItemErrorCode: "validation_failed" | "source_not_allowed" | "identity_conflict" | "profile_erased" | "unavailable";
        /** @enum {string} */
        FaultCode: "required" | "type" | "empty" | "too_long" | "too_short" | "enum" | "format" | "range" | "unknown_field" | "too_many_items" | "duplicate" | "too_few_items" | "too_large" | "too_deep" | "too_many_keys" | "too_many_faults" | "invalid_characters" | "missing_offset" | "conflicting_fields" | "secrets_key_missing" | "reserved_name" | "placeholder_identity" | "invalid_phone" | "identity_required" | "identity_conflict" | "profile_erased" | "source_not_allowed" | "not_replayable" | "other_event" | "masked_value" | "system_field" | "undeclared_variable" | "unknown_operator" | "too_costly" | "timed_out" | "interrupted" | "personal_data" | "condition_failed" | "limit_reached" | "limit_exceeded" | "context_violation" | "unregistered_event_type" | "unknown_property" | "property_removed" | "property_added_required" | "property_type_changed" | "property_made_required" | "enum_narrowed" | "format_changed" | "additional_properties_rejected";
        FaultDto: {
            code: components["schemas"]["FaultCode"];
            /**
             * @description The field, the way the client wrote it; empty for the whole body.
             * @example identity.type
             */
            path: string;
            /** @description What is wrong and how to correct it; never the value itself. */
            message: string;
        };
        ErrorResultDto: {
            /** @enum {string} */
            status: "error";
            error_code: components["schemas"]["ItemErrorCode"];
            /** @description The faults found; of all items together at most 1,000, and the message says how many the item has. */
            details: components["schemas"]["FaultDto"][];
            message: string;
        };
        BatchResultDto: {
            results: (components["schemas"]["AcceptedResultDto"] | components["schemas"]["DuplicateResultDto"] | components["schemas"]["ErrorResultDto"])[];
        };
        ReactionOutcomeDto: {
            /**
             * @description `waiting_for_customer`: it changes values of the participant, and the customer has no EXTERNAL identifier yet.
             * @enum {string}
             */
            outcome: "applied" | "skipped" | "failed" | "waiting_for_customer";
            /**
             * Format: date-time
             * @description When the backfill was requested that brought the reaction to an event received before; absent: none did.
             */
            backfilledAt?: string;
            campaignId: string;
            name: string;
            /** @description Why it was skipped, or failed. */
            reason?: string;
        };
        EventDeliveryDto: {
            /** @example 1 */
            attemptCount: number;
            webhookId: string;
            /** @example delivered */
            state: string;
        };
        ProcessingDto: {
            /** @enum {string} */
            state: "queued" | "processed" | "failed";
            /**
             * Format: date-time
             * @description When it was processed, or failed for good. Null while it is queued, and for an event that nothing was done with after 30 days.
             */
            processedAt: string | null;
            /** @description Those that have failed, and the one that has not. */
            attempts: number;
            /** @description What went wrong in the last attempt: a code, and words. */
            lastError: string | null;
            reactions: components["schemas"]["ReactionOutcomeDto"][];
            /** @description Absent: it is for no webhook. Shown for 30 days after it was delivered. */
            deliveries?: components["schemas"]["EventDeliveryDto"][];
        };
        EventDto: {
            /** @enum {string} */
            family: "external" | "cdp";
            /** Format: date-time */
            occurredAt: string;
            /** Format: date-time */
            receivedAt: string;
            /**
             * @example {
             *       "EMAIL": "j***@e***.com"
             *     }
             */
            identity: {
                [key: string]: string;
            };
            /**
             * @example {
             *       "amount": 29.33,
             *       "quantity": 2
             *     }
             */
            properties: {
                [key: string]: unknown;
            };
            eventId: string;
            source: string;
            externalEventId: string;
            eventType: string;
            /** @description The version of the contract it was checked against; null in the external-events family. */
            eventTypeVersion: number | null;
            /** @description The customer that it belongs to now. */
            profileId: string;
            processing: components["schemas"]["ProcessingDto"];
        };
        EventPageDto: {
            items: components["schemas"]["EventDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
            /**
             * @description How many events were looked at, where that ended the page: few of them fit the filters, perhaps none. The list goes on at
             *     `nextCursor`.
             */
            scanned?: number;
            /**
             * Format: date-time
             * @description Only with `order=asc`, and not for one event by name: every event that was received before this time is stored and can be
             *     listed. Later ones are not listed yet. To follow the log, ask again with `from` set to this time. A replay may still store
             *     an event with an earlier time, that of its first receipt.
             */
            completeBefore?: string;
        };
        /** @enum {string} */
        ReviewSeverity: "error" | "warning";
        /**
         * @description The step of the pipeline where the problem occurred.
         * @enum {string}
         */
        ReviewStage: "request" | "authorization" | "validation" | "contract" | "identity" | "processing";
        /**
         * @description Which part of the payload is stored. `whole`: all of it. `cut`: its beginning, because it is too large for a
         *     replay. `not_kept`: nothing, because the workspace had used up its bytes of the day. `removed`: nothing any more, or
         *     only which event it was, because its retention is over or it is about an erased person. `stored`: nothing, because
         *     the event itself is stored (`eventId`).
         * @enum {string}
         */
        ReviewPayloadState: "whole" | "cut" | "not_kept" | "removed" | "stored";
        /** @enum {string} */
        ReviewStatus: "open" | "replayed" | "dismissed" | "superseded";
        ReviewEntryDto: {
            severity: components["schemas"]["ReviewSeverity"];
            stage: components["schemas"]["ReviewStage"];
            details: components["schemas"]["FaultDto"][];
            /** @enum {string} */
            family: "external" | "cdp";
            /**
             * @description What the client sent: a JSON value, or the text of a body that is no JSON.
             * @example {
             *       "source": "shop.orders",
             *       "external_event_id": "order-4711",
             *       "type": "purchase",
             *       "identity": {}
             *     }
             */
            payload: ({
                [key: string]: unknown;
            } | null) | unknown[] | string | number | boolean;
            payloadState: components["schemas"]["ReviewPayloadState"];
            status: components["schemas"]["ReviewStatus"];
            resolution: {
                [key: string]: unknown;
            } | null;
            id: string;
            /** @description The code of the first fault, else the error code; of a warning its name. */
            reason: string;
            message: string;
            source: string | null;
            externalEventId: string | null;
            eventType: string | null;
            /**
             * @description `payload` is the beginning only: 4,096 characters in lists, 262,144 in a single entry. A replay sends the whole
             *     payload.
             */
            payloadTruncated?: boolean;
            /** @description The stored event that the entry is about. */
            eventId?: string;
            occurrences: number;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            lastSeenAt: string;
        };
        ReviewPageDto: {
            /** @description With filters that hardly any entry matches a page can be short, or empty, although there are more. */
            items: components["schemas"]["ReviewEntryDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        ReviewReasonCountDto: {
            reason: string;
            count: number;
        };
        ReviewSourceCountDto: {
            /** @description Null for entries whose source is not known. */
            source: string | null;
            count: number;
        };
        ReviewEventTypeCountDto: {
            /** @description Null for entries whose event type is not known. */
            eventType: string | null;
            count: number;
        };
        ReviewSummaryDto: {
            status: components["schemas"]["ReviewStatus"];
            total: number;
            byReason: components["schemas"]["ReviewReasonCountDto"][];
            bySource: components["schemas"]["ReviewSourceCountDto"][];
            byEventType: components["schemas"]["ReviewEventTypeCountDto"][];
        };
        DismissDto: {
            /**
             * @description Why the entry needs no action.
             * @example Test data of the agency
             */
            note?: string;
        };
        DismissalFilterDto: {
            /**
             * @description Only open entries are selected, with or without this field.
             * @enum {string}
             */
            status?: "open";
            /**
             * @description The step of the pipeline where the problem occurred.
             * @enum {string}
             */
            stage?: "request" | "authorization" | "validation" | "contract" | "identity" | "processing";
            /** @example unregistered_event_type */
            reason?: string;
            source?: string;
            eventType?: string;
        };
        BulkDismissalDto: {
            filter: components["schemas"]["DismissalFilterDto"];
            /** @description Why they need no action. It is stored with each entry. */
            note?: string;
        };
        BulkDismissalStartedDto: {
            /** @description The id for `GET /v1/review-dismissals/{jobId}`, which shows the progress. */
            jobId: string;
        };
        /**
         * @description `queued` until the first entries are closed; `failed` if the job gave up.
         * @enum {string}
         */
        ReviewDismissalState: "queued" | "running" | "done" | "cancelled" | "failed";
        ReviewDismissalDto: {
            state: components["schemas"]["ReviewDismissalState"];
            jobId: string;
            /** @description The number of entries that matched when the dismissal started. */
            total: number;
            /** @description How many of them it has closed. Those that were closed otherwise, or occurred again meanwhile, are none of them. */
            dismissed: number;
            filter: components["schemas"]["DismissalFilterDto"];
            /** @description Contact data in it is masked. */
            note: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
            /** Format: date-time */
            finishedAt: string | null;
        };
        /** @description An empty object. */
        NoFieldsDto: Record<string, never>;
        StateTreeDto: {
            /**
             * @example {
             *       "points": 120
             *     }
             */
            user: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
            /**
             * @example {
             *       "revenue": 29.33
             *     }
             */
            campaign: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
            /** @example {} */
            app: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
        };
        StateDto: {
            state: components["schemas"]["StateTreeDto"];
        };
        OperationDto: {
            /** @example state.user.points */
            path: string;
            /**
             * @example inc
             * @enum {string}
             */
            op: "set" | "inc" | "dec";
            /**
             * @description Of the variable's type; a number for `inc` and `dec`.
             * @example 10
             */
            value: number | string | boolean;
        };
        MutationDto: {
            /** @description Applied in their order, all or none. */
            ops: components["schemas"]["OperationDto"][];
            /**
             * @description An id of yours for this mutation, the same in every repetition; the header `Idempotency-Key` is an alias.
             * @example checkout-4711
             */
            mutation_id?: string;
            /** @description The campaign, if neither the path nor the token names it. */
            campaign_id?: string;
            /** @description For participants, if sent, the token's app; for backends any app, `default` when absent. */
            app_id?: string;
            /** @description If sent, the participant of the token or of the path. */
            user_id?: string;
            /** @description The same as `mutation_id`. */
            mutationId?: string;
            /** @description The same as `campaign_id`. */
            campaignId?: string;
            /** @description The same as `app_id`. */
            appId?: string;
            /** @description The same as `user_id`. */
            userId?: string;
        };
        MutationEntryDto: {
            /**
             * @description What a read would have shown before; null where there was neither a value nor a default.
             * @example 100
             */
            previous: (number | null) | (string | null) | (boolean | null);
            /** @example 110 */
            current: number | string | boolean;
            /** @example state.user.points */
            path: string;
        };
        MutationResultDto: {
            /** @enum {string} */
            status: "applied" | "duplicate";
            /** @description One entry for each operation; of a duplicate, those of the original. */
            mutations: components["schemas"]["MutationEntryDto"][];
        };
        SystemFieldsDto: {
            /** @description The `sid` of the participant's last token that had one and changed something. */
            sessionId: string | null;
        };
        OwnStateTreeDto: {
            /**
             * @description Every declared variable of scope `user` by its name: its value, else its default, else null.
             * @example {
             *       "points": 120
             *     }
             */
            user: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
            system: components["schemas"]["SystemFieldsDto"];
        };
        ParticipantDto: {
            /**
             * @description The `sub` of the participant's tokens.
             * @example customer-4711
             */
            sub: string;
            state: components["schemas"]["OwnStateTreeDto"];
        };
        ParticipantPageDto: {
            items: components["schemas"]["ParticipantDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        ParticipantStateTreeDto: {
            /**
             * @example {
             *       "points": 120
             *     }
             */
            user: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
            /**
             * @example {
             *       "revenue": 29.33
             *     }
             */
            campaign: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
            /** @example {} */
            app: {
                [key: string]: (number | null) | (string | null) | (boolean | null);
            };
            system: components["schemas"]["SystemFieldsDto"];
        };
        ParticipantStateDto: {
            state: components["schemas"]["ParticipantStateTreeDto"];
        };
        /**
         * @description Whose values it has: each participant's, the campaign's, or those of all campaigns of an app.
         * @enum {string}
         */
        VariableScope: "user" | "campaign" | "app";
        ChangeCauseDto: {
            /** @enum {string} */
            kind: "mutation" | "reaction" | "backfill";
            /**
             * @description Of a mutation, as the client sent it; absent if it sent none, or if the person was erased.
             * @example checkout-4711
             */
            mutationId?: string;
            /**
             * @description Of a mutation: the id of the backend's API key, or, for a value that participants share, the participant's `sub`.
             *     Absent for a participant's change of an own value, and if the person was erased.
             * @example customer-4711
             */
            actor?: string;
            /** @description The campaign of the reaction. */
            campaignId?: string;
            /**
             * @description The name of the reaction.
             * @example count-purchases
             */
            reaction?: string;
            /** @description The event that the reaction reacted to. */
            eventId?: string;
        };
        HistoryEntryDto: {
            scope: components["schemas"]["VariableScope"];
            /** @enum {string} */
            op: "set" | "inc" | "dec";
            /**
             * @description What a read would have shown before: the `current` of the entry before, or the default in a new period; null where
             *     there was neither a value nor a default.
             * @example 100
             */
            previous: (number | null) | (string | null) | (boolean | null);
            /** @example 110 */
            current: number | string | boolean;
            /** Format: date-time */
            at: string;
            /** @example points */
            name: string;
            /**
             * Format: date-time
             * @description The beginning of the period that the value belongs to; absent for a variable without periods.
             */
            periodStart?: string;
            cause: components["schemas"]["ChangeCauseDto"];
        };
        HistoryPageDto: {
            items: components["schemas"]["HistoryEntryDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        CampaignDto: {
            /** @example spring-sale */
            campaignId: string;
            /**
             * @description How many variables are in force, of all scopes.
             * @example 3
             */
            variables: number;
            /**
             * @description How many reactions are defined, also disabled ones.
             * @example 1
             */
            reactions: number;
            /**
             * Format: date-time
             * @description When its first variable was defined.
             */
            createdAt: string;
        };
        CampaignPageDto: {
            items: components["schemas"]["CampaignDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        /**
         * @description Stays for good.
         * @enum {string}
         */
        VariableType: "number" | "string" | "boolean";
        /**
         * @description Weeks begin on Monday.
         * @enum {string}
         */
        PeriodUnit: "day" | "week" | "month";
        /** @description Absent: a value stays until it is changed. */
        PeriodDto: {
            every: components["schemas"]["PeriodUnit"];
            /**
             * @description Where the day begins: a name of the IANA time zone database.
             * @example Europe/Berlin
             */
            timezone: string;
        };
        DefineVariableDto: {
            scope: components["schemas"]["VariableScope"];
            type: components["schemas"]["VariableType"];
            /**
             * @description Shown while no value is set: of the variable's type, a string of at most 4,096 bytes in UTF-8, a number that can be
             *     kept exactly.
             * @example 0
             */
            default?: number | string | boolean;
            /**
             * @description The least value, for numbers only. A mutation that would lead below it is refused.
             * @example 0
             */
            min?: number;
            /**
             * @description The greatest value, for numbers only. A mutation that would lead beyond it is refused.
             * @example 1000
             */
            max?: number;
            period?: components["schemas"]["PeriodDto"];
            /**
             * @description A note for operators.
             * @example Loyalty points
             */
            description?: string;
            /**
             * @description Unique in its scope; some names are reserved.
             * @example points
             */
            name: string;
        };
        VariableDto: {
            scope: components["schemas"]["VariableScope"];
            type: components["schemas"]["VariableType"];
            /**
             * @description Of the variable's type; absent when none is set.
             * @example 100
             */
            default?: number | string | boolean;
            name: string;
            /**
             * @description The least value; absent when none is set.
             * @example 0
             */
            min?: number;
            /**
             * @description The greatest value; absent when none is set.
             * @example 1000
             */
            max?: number;
            period?: components["schemas"]["PeriodDto"];
            /**
             * @description Absent when none is set.
             * @example Loyalty points
             */
            description?: string;
        };
        DefinedVariableDto: {
            /** @enum {string} */
            status: "defined";
            variable: components["schemas"]["VariableDto"];
        };
        VariableListDto: {
            /** @description In the order of scopes `user`, `campaign`, `app`, and by name. */
            variables: components["schemas"]["VariableDto"][];
        };
        VariableAddressDto: {
            scope: components["schemas"]["VariableScope"];
            /**
             * @description Unique in its scope; some names are reserved.
             * @example points
             */
            name: string;
        };
        ArchivedVariableDto: {
            /** @enum {string} */
            status: "archived";
            variable: components["schemas"]["VariableDto"];
        };
        CdpIdentityDto: {
            /**
             * @description The customer's id in the upstream system.
             * @example customer-0001
             */
            externalUserId?: string;
            /** @example jane@example.com */
            email?: string;
            /** @example +4915112345678 */
            phone?: string;
            /** @example d3adb33f-device */
            deviceKey?: string;
        };
        CdpEventDto: {
            /**
             * @description What the event type declares: JSON of at most 8 levels and 300 keys. The top of this document limits its bytes.
             * @example {
             *       "amount": 29.33,
             *       "quantity": 2
             *     }
             */
            properties?: {
                [key: string]: unknown;
            };
            /**
             * @description The system that the event comes from.
             * @example shop.orders
             */
            source: string;
            /**
             * @description The source's own id of the fact; the same in every repetition.
             * @example order-4711
             */
            externalEventId: string;
            /**
             * @description A registered event type.
             * @example purchase
             */
            eventType: string;
            /**
             * @description When it happened: ISO 8601 with an offset or Z; absent: when it is received.
             * @example 2026-01-02T03:04:05Z
             */
            occurredAt?: string;
            identity: components["schemas"]["CdpIdentityDto"];
        };
        CdpEventBatchDto: {
            /** @description One event or more; the top of this document says how many at most. */
            items: components["schemas"]["CdpEventDto"][];
        };
        /** @enum {string} */
        PropertyType: "string" | "number" | "integer" | "boolean" | "timestamp" | "object" | "array";
        /**
         * @description The format of the text; only for `string`.
         * @enum {string}
         */
        PropertyFormat: "date" | "date-time" | "email" | "hostname" | "ipv4" | "ipv6" | "uri" | "uuid";
        PropertyDefinitionDto: {
            type: components["schemas"]["PropertyType"];
            /** @description The allowed values, of the property's type; only for `string`, `number` and `integer`. */
            enum?: (string | number)[];
            format?: components["schemas"]["PropertyFormat"];
            description?: string;
            required?: boolean;
            /** @description Metadata for segment builders; not enforced. */
            segmentable?: boolean;
            /** @description Personal data: masked in every view. */
            pii?: boolean;
        };
        RegisterEventTypeDto: {
            /**
             * @description The name.
             * @example purchase
             */
            eventType: string;
            /** @example A customer bought something */
            description?: string;
            /**
             * @description The properties by name.
             * @example {
             *       "amount": {
             *         "type": "number",
             *         "required": true
             *       },
             *       "quantity": {
             *         "type": "integer"
             *       }
             *     }
             */
            properties: {
                [key: string]: components["schemas"]["PropertyDefinitionDto"];
            };
            /**
             * @description Whether events may have properties that are not declared; `reject` when absent.
             * @enum {string}
             */
            additionalProperties?: "reject" | "allow";
            /** @description Registers the version even if it breaks events that were valid before. */
            force?: boolean;
        };
        EventTypeDto: {
            /**
             * @example {
             *       "amount": {
             *         "type": "number",
             *         "required": true
             *       },
             *       "quantity": {
             *         "type": "integer"
             *       }
             *     }
             */
            properties: {
                [key: string]: components["schemas"]["PropertyDefinitionDto"];
            };
            /** @enum {string} */
            additionalProperties: "reject" | "allow";
            eventType: string;
            version: number;
            /** @example A customer bought something */
            description?: string;
            /** Format: date-time */
            createdAt: string;
        };
        SampleReasonDto: {
            /**
             * @description The `details[].code` that such an event would be refused with.
             * @example type
             */
            code: string;
            /** @example properties.amount */
            path: string;
            /** @description The number of events of the sample with this fault. */
            count: number;
        };
        /**
         * @description The check of the newest 1,000 stored and refused events of the type against the definition. Absent unless the API
         *     key also has the scope `events:read`. Personal properties are skipped: those that are `pii` in any version or in
         *     this definition, and what views mask as contact data.
         */
        EventTypeSampleDto: {
            /** @example 1000 */
            checked: number;
            /** @example 999 */
            pass: number;
            fail: number;
            /** @description The most frequent first, at most 100. An event may have several. */
            reasons: components["schemas"]["SampleReasonDto"][];
        };
        EventTypeTrialDto: {
            /**
             * @description `breaking`: the registration would be refused without `force`.
             * @enum {string}
             */
            outcome: "new" | "identical" | "compatible" | "breaking";
            /**
             * @description Each change that breaks; empty unless `breaking`.
             * @example []
             */
            breaks: components["schemas"]["FaultDto"][];
            sample?: components["schemas"]["EventTypeSampleDto"];
        };
        InferEventTypeDto: {
            /**
             * @description The name that events were sent with, of a registered type or not.
             * @example purchase
             */
            eventType: string;
        };
        InferredEventTypeDto: {
            /**
             * @description The properties by name; empty without events. Required are those that every event has, `pii` those that views mask.
             * @example {
             *       "amount": {
             *         "type": "number",
             *         "required": true
             *       },
             *       "quantity": {
             *         "type": "integer"
             *       }
             *     }
             */
            properties: {
                [key: string]: components["schemas"]["PropertyDefinitionDto"];
            };
            eventType: string;
            /** @description How many stored events it is made of; 0 without the scope `events:read`. */
            stored: number;
            /** @description How many refused events it is made of; 0 without the scope `review:read`. */
            refused: number;
        };
        ListedEventTypeDto: {
            /**
             * @example {
             *       "amount": {
             *         "type": "number",
             *         "required": true
             *       },
             *       "quantity": {
             *         "type": "integer"
             *       }
             *     }
             */
            properties: {
                [key: string]: components["schemas"]["PropertyDefinitionDto"];
            };
            /** @enum {string} */
            additionalProperties: "reject" | "allow";
            eventType: string;
            version: number;
            /** @example A customer bought something */
            description?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was deprecated; null: it is not. Events of a deprecated type open a review warning.
             */
            deprecatedAt: string | null;
        };
        EventTypePageDto: {
            items: components["schemas"]["ListedEventTypeDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        EventTypeHistoryDto: {
            eventType: string;
            /**
             * Format: date-time
             * @description When it was deprecated; null: it is not. Events of a deprecated type open a review warning.
             */
            deprecatedAt: string | null;
            /** @description Newest first, at most 100, and fewer if they are large. The first one is current. */
            versions: components["schemas"]["EventTypeDto"][];
        };
        EventTypeSchemaDto: {
            /**
             * @example {
             *       "amount": {
             *         "type": "number"
             *       }
             *     }
             */
            properties: {
                [key: string]: unknown;
            };
            /** @description Contains a property `__proto__`, which most tools cannot handle under `properties`. */
            patternProperties?: {
                [key: string]: unknown;
            };
            /** @example https://json-schema.org/draft/2020-12/schema */
            $schema: string;
            /**
             * @description The event type.
             * @example purchase
             */
            title: string;
            description?: string;
            /** @example object */
            type: string;
            /**
             * @example [
             *       "amount"
             *     ]
             */
            required: string[];
            /** @example false */
            additionalProperties: boolean;
            /** @example 300 */
            maxProperties: number;
        };
        IdentityLookupDto: {
            /**
             * @description `EXTERNAL`, `EMAIL`, `PHONE`, `DEVICE`, `external_user_id` or `device_key`, in any case.
             * @example EMAIL
             */
            type: string;
            /**
             * @description Before normalisation.
             * @example jane@example.com
             */
            value: string;
        };
        /** @enum {string} */
        IdentifierType: "EXTERNAL" | "EMAIL" | "PHONE" | "DEVICE";
        ProfileIdentifierDto: {
            type: components["schemas"]["IdentifierType"];
            /** @example cu*** */
            value: string;
        };
        ProfileDto: {
            /** @description The id of the surviving profile, also if the request named a merged one. */
            id: string;
            /** @description The strongest first. */
            identifiers: components["schemas"]["ProfileIdentifierDto"][];
            /**
             * Format: date-time
             * @description When the first event of its timeline occurred.
             */
            firstSeenAt: string;
            /**
             * Format: date-time
             * @description When the last event of its timeline occurred.
             */
            lastSeenAt: string;
            eventCount: number;
            /** @description Further events, which were removed when their retention ended. */
            eventsExpired: number;
            /** @description The profiles that were merged into it. Their ids keep working. */
            mergedFrom: string[];
        };
        ProfilePageDto: {
            items: components["schemas"]["ProfileDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        CampaignStateDto: {
            /** @example spring-sale */
            campaignId: string;
            state: components["schemas"]["OwnStateTreeDto"];
            /**
             * Format: date-time
             * @description When a value last changed.
             */
            updatedAt: string;
        };
        CampaignStatePageDto: {
            /** @description By campaign. */
            items: components["schemas"]["CampaignStateDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        MergeDto: {
            id: string;
            /** @description The surviving profile of the customer that was merged into the other one, at the time of the merge. */
            fromProfileId: string;
            /** @description The surviving profile of the other customer. */
            intoProfileId: string;
            /** @description The event that named identifiers of both. */
            eventId: string;
            /** Format: date-time */
            mergedAt: string;
            /** Format: date-time */
            undoneAt: string | null;
        };
        MergePageDto: {
            items: components["schemas"]["MergeDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        ExportedRecordDto: {
            /**
             * @description The kind of the record.
             * @enum {string}
             */
            record: "profile" | "merge" | "event" | "named_in_event" | "review_entry" | "participant_state" | "mutation_outcome" | "value_change" | "webhook_change" | "webhook_delivery";
            /**
             * @description The record as its view shows it, unmasked.
             * @example {
             *       "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
             *       "source": "shop.orders"
             *     }
             */
            data: {
                [key: string]: unknown;
            };
        };
        ErasureDto: {
            /** @description The surviving profile of the customer. Its id is not found any more. */
            profileId: string;
            /** Format: date-time */
            erasedAt: string;
        };
        LiftedErasureDto: {
            /**
             * @description `not_erased`: no person with this identifier was erased, or the erasure was lifted before.
             * @enum {string}
             */
            status: "lifted" | "not_erased";
        };
        ProcessingSummaryDto: {
            /** @description Events that are not processed yet, including those that failed and will be retried. */
            queued: number;
            /**
             * Format: date-time
             * @description When the oldest of them was taken; null when none waits.
             */
            oldestQueuedAt: string | null;
            /** @description Events processed in the last minute, give or take ten seconds. */
            processedLastMinute: number;
            /** @description Events that failed for good and have not been replayed since. */
            failed: number;
        };
        ReplayDto: {
            /**
             * @description The corrected event, in the form of its family, with the source and event id of the entry. A mask that a view
             *     of the entry shows in the same place stands for the stored value. Absent: the stored payload.
             */
            payload?: {
                [key: string]: unknown;
            };
        };
        ProcessedResultDto: {
            /** @enum {string} */
            status: "processed";
            event_id: string;
        };
        ProcessingFailedResultDto: {
            /** @enum {string} */
            status: "failed";
            details: components["schemas"]["FaultDto"][];
            event_id: string;
            error_code: string;
            message: string;
        };
        ReplayedDto: {
            outcome: components["schemas"]["AcceptedResultDto"] | components["schemas"]["DuplicateResultDto"] | components["schemas"]["ErrorResultDto"] | components["schemas"]["ProcessedResultDto"] | components["schemas"]["ProcessingFailedResultDto"];
            reviewEntry: components["schemas"]["ReviewEntryDto"];
        };
        ReplayFilterDto: {
            /**
             * @description Only open entries are selected, with or without this field.
             * @enum {string}
             */
            status?: "open";
            /**
             * @description The step of the pipeline where the problem occurred.
             * @enum {string}
             */
            stage?: "request" | "authorization" | "validation" | "contract" | "identity" | "processing";
            /** @example unregistered_event_type */
            reason?: string;
            source?: string;
            eventType?: string;
        };
        BulkReplayDto: {
            filter: components["schemas"]["ReplayFilterDto"];
        };
        BulkReplayStartedDto: {
            /** @description The id for `GET /v1/review-replays/{jobId}`, which shows the progress. */
            jobId: string;
        };
        /**
         * @description `queued` until the first entries are done; `failed` if the job gave up.
         * @enum {string}
         */
        ReviewReplayState: "queued" | "running" | "done" | "cancelled" | "failed";
        ReviewReplayDto: {
            state: components["schemas"]["ReviewReplayState"];
            jobId: string;
            /** @description The number of entries that matched when the replay started. */
            total: number;
            /** @description How many of them are accepted, duplicate or failed. */
            done: number;
            accepted: number;
            /** @description The event was stored or processed already. */
            duplicate: number;
            /** @description The event was refused again, or there was nothing to send. The resolution of each entry has the reason. */
            failed: number;
            filter: components["schemas"]["ReplayFilterDto"];
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
            /** Format: date-time */
            finishedAt: string | null;
        };
        RetentionDto: {
            /**
             * @description Full days that events are kept after their receipt; null: for ever.
             * @example 365
             */
            eventDays: number | null;
            /**
             * Format: date-time
             * @description Null: the workspace has never changed it.
             */
            changedAt: string | null;
            /** @description The id of the credential that changed it, `oidc:` and the subject of a person, or a name such as `command line`. */
            changedBy: string | null;
            /**
             * Format: date-time
             * @description How far the removal is: events received earlier are gone, except those that were still being processed. Null: it
             *     has not removed any yet.
             */
            expiredBefore: string | null;
        };
        ChangeRetentionDto: {
            /**
             * @description Events that were received earlier are removed; their event ids stay known. Null or absent: all events are kept.
             * @example 365
             */
            eventDays?: number | null;
        };
        IngestStatisticsItemDto: {
            /**
             * Format: date-time
             * @description When the step began, also where `from` is within it.
             */
            at: string;
            /**
             * @description The source, family or type; null without `groupBy`, and for refused events whose name could not be read.
             * @example shop.orders
             */
            group: string | null;
            /** @description True for the rest beyond the 200 groups with the most events, whose `group` is `other`; otherwise absent. */
            isOther?: boolean;
            /** @description Events that were received in the step and stored: what `GET /v1/events` lists, and those whose retention has ended. */
            accepted: number;
            /** @description Answers `duplicate`. */
            duplicate: number;
            /** @description Answers with an error, also those that ask to send the event again. */
            refused: number;
            /** @description Of the accepted ones: occurred more than 24 hours before they were received. */
            late: number;
            /** @description Of the accepted ones: occur more than 24 hours after they were received. */
            clockSkewed: number;
        };
        IngestStatisticsDto: {
            items: components["schemas"]["IngestStatisticsItemDto"][];
        };
        ReactionOperationDto: {
            /**
             * @description Of a variable that the campaign declares.
             * @example state.user.points
             */
            path: string;
            /**
             * @example inc
             * @enum {string}
             */
            op: "set" | "inc" | "dec";
            /** @description Of the variable's type; a number for `inc` and `dec`. */
            value?: number | string | boolean;
            /**
             * @description Where in the event's record the value stands: a field of it, or a path below `identity` or `properties`, with
             *     `event.` before it or without. Identity, and properties that are personal, may be written to `user` scope only.
             * @example properties.amount
             */
            valueFrom?: string;
            /**
             * @description `clamp`: if the variable would leave its limits, it is moved to the limit. Absent: the reaction is skipped.
             * @enum {string}
             */
            onLimit?: "clamp";
        };
        /** @description A definition, which need not be stored. */
        DefineReactionDto: {
            /**
             * @description Unique in the campaign.
             * @example count-purchases
             */
            name: string;
            /**
             * @description Events of this type; of the external-events family, their `type`.
             * @example purchase
             */
            eventType: string;
            /** @description Only events of this source; any when absent. */
            source?: string;
            /**
             * @description Only events for which this is truthy: a rule in JsonLogic over `event`, the event's record, and over its fields. At
             *     most 8 KiB and 200 operators. What it may cost with one event is bounded by the size of what it compares, to some
             *     milliseconds.
             * @example {
             *       ">=": [
             *         {
             *           "var": "event.properties.amount"
             *         },
             *         20
             *       ]
             *     }
             */
            when?: {
                [key: string]: unknown;
            };
            /**
             * @description Applied in their order, wholly or not at all, once for each event.
             * @example [
             *       {
             *         "path": "state.user.points",
             *         "op": "inc",
             *         "value": 10
             *       }
             *     ]
             */
            ops: components["schemas"]["ReactionOperationDto"][];
            /** @description False switches it off; true when absent. */
            enabled?: boolean;
        };
        ReactionWarningDto: {
            /**
             * @description The field, the way the client wrote it.
             * @example when[">="][0].var
             */
            path: string;
            /**
             * @example unknown_path
             * @enum {string}
             */
            code: "unknown_event_type" | "unknown_path" | "unknown_property" | "never_met";
            /**
             * @description Why it has no effect, and what was probably meant.
             * @example when[">="][0].var reads amount, which no event has; it is always absent. Did you mean event.properties.amount?
             */
            message: string;
        };
        ReactionDto: {
            /**
             * @description Absent: always.
             * @example {
             *       ">=": [
             *         {
             *           "var": "event.properties.amount"
             *         },
             *         20
             *       ]
             *     }
             */
            when?: {
                [key: string]: unknown;
            };
            ops: components["schemas"]["ReactionOperationDto"][];
            campaignId: string;
            name: string;
            eventType: string;
            /** @description Absent: of any source. */
            source?: string;
            enabled: boolean;
            /**
             * Format: date-time
             * @description It applies to events received from then on.
             */
            appliesFrom: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        DefinedReactionDto: {
            /** @enum {string} */
            status: "defined";
            /**
             * @description Always a list, possibly empty; the same again for a definition that is already in force.
             * @example []
             */
            warnings: components["schemas"]["ReactionWarningDto"][];
            reaction: components["schemas"]["ReactionDto"];
        };
        ReactionPageDto: {
            items: components["schemas"]["ReactionDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        StartBackfillDto: {
            /**
             * Format: date-time
             * @description Events received from then on. With an offset or `Z`.
             * @example 2026-01-01T00:00:00Z
             */
            from: string;
            /**
             * Format: date-time
             * @description And before then. A range ends with the last event received so far: later events meet the reaction anyway.
             * @example 2026-02-01T00:00:00Z
             */
            to: string;
            /** @description True changes nothing, and adds up what would change. */
            dryRun?: boolean;
            /**
             * @description Events of the reaction in a second, at most. Absent: about a quarter of what one connection can do.
             * @example 500
             */
            eventsPerSecondMax?: number;
        };
        BackfillStartedDto: {
            /** @description The id for `GET …/backfills/{jobId}`, which shows the progress. */
            jobId: string;
        };
        /**
         * @description `failed`: it ended early, and `reason` says why.
         * @enum {string}
         */
        BackfillState: "queued" | "running" | "done" | "cancelled" | "failed";
        /**
         * @description Of a failed one: the reaction was redefined, switched off or deleted; or the job gave up.
         * @enum {string}
         */
        BackfillEndReason: "reaction_changed" | "gave_up";
        VariableSumDto: {
            /** @description Events that would change it. */
            events: number;
            /** @description How often it would be set. */
            sets: number;
            /** @example state.user.points */
            path: string;
            /** @description What `inc` and `dec` add up to, in decimal; null beyond ±2^53. */
            sum: number | null;
        };
        BackfillDto: {
            eventsPerSecondMax?: number;
            state: components["schemas"]["BackfillState"];
            reason?: components["schemas"]["BackfillEndReason"];
            /**
             * @description Events of the reaction's type and source in the range; null until they are counted.
             * @example 100
             */
            total: number | null;
            /**
             * @description How many of them were looked at.
             * @example 60
             */
            scanned: number;
            /**
             * @description Those that meet `when`, and that the reaction came to for the first time.
             * @example 45
             */
            matched: number;
            /**
             * @description Those whose changes were made; in a dry run, would be made. A dry run reads no values: it includes changes that would
             *     leave limits, and those of values that a later event has set.
             * @example 44
             */
            applied: number;
            /**
             * @description Those that wait until their customer has an EXTERNAL identifier.
             * @example 1
             */
            waiting: number;
            /**
             * @description Those that do not meet `when`, that the reaction has come to before, that would leave limits or were set by a later
             *     event, that expired meanwhile, or whose person was erased.
             * @example 15
             */
            skipped: number;
            /**
             * @description Those in the review area now, from where they can be replayed.
             * @example 0
             */
            failed: number;
            jobId: string;
            campaignId: string;
            /**
             * @description The name of the reaction.
             * @example count-purchases
             */
            reaction: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            dryRun: boolean;
            /**
             * @description Of a dry run: what each variable would change by. Left out for callers without `pii:read` if the reaction reads personal data, or
             *     has changed since.
             */
            sums?: components["schemas"]["VariableSumDto"][];
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
        };
        BackfillPageDto: {
            items: components["schemas"]["BackfillDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        TestReactionDto: {
            reaction?: components["schemas"]["DefineReactionDto"];
            /**
             * @description Of a reaction of the campaign.
             * @example count-purchases
             */
            name?: string;
            /** @description The body of an event of either family, which is not stored. */
            event?: {
                [key: string]: unknown;
            };
            /** @description Of stored events; requires `events:read`, too. */
            eventIds?: string[];
            /**
             * @description So many of the newest stored events of the reaction's type; requires `events:read`, too.
             * @example 100
             */
            last?: number;
        };
        /** @enum {string} */
        RehearsalReason: "no_condition" | "condition_met" | "condition_not_met" | "condition_failed" | "too_costly" | "timed_out" | "event_type" | "source" | "disabled" | "profile_erased" | "not_found" | "invalid_event";
        RehearsalReasonDto: {
            code: components["schemas"]["RehearsalReason"];
            /** @example when.and[1][\>=\] */
            path: string;
            /** @example when.and[1][\>=\] does not hold; the event has no event.properties.amount. */
            message: string;
        };
        RehearsedChangeDto: {
            /**
             * @description What a read shows now; absent without `state:read`, and then nothing says whether the value takes the change. Personal
             *     data are masked without `pii:read`.
             */
            previous?: (number | null) | (string | null) | (boolean | null);
            current?: number | string | boolean;
            /** @example state.user.points */
            path: string;
        };
        RehearsedEventDto: {
            /** @enum {string} */
            outcome: "applied" | "skipped" | "failed" | "waiting_for_customer";
            /** @description Null: the event would be refused. */
            eventId: string | null;
            /** @description Whether type, source and `when` fit. The time of the definition does not count. */
            matched: boolean;
            why: components["schemas"]["RehearsalReasonDto"];
            changes: components["schemas"]["RehearsedChangeDto"][];
            /** @description Why the reaction would fail, or the event would be refused. */
            faults: components["schemas"]["FaultDto"][];
        };
        RehearsalDto: {
            /** @description How many events were left out: the time of the request was used up, or the answer had half a megabyte. */
            omitted: number;
            /** @description In the order of `eventIds`, or newest first. */
            items: components["schemas"]["RehearsedEventDto"][];
        };
        /** @description Instead of the other fields: changes of a variable. Requires the scope `state:read`, which shows them. */
        WebhookChangeDto: {
            scope: components["schemas"]["VariableScope"];
            /**
             * @description Only in this campaign; in any when absent. Not for the scope `app`, whose values belong to no campaign.
             * @example spring
             */
            campaignId?: string;
            /**
             * @description Unique in its scope; some names are reserved.
             * @example points
             */
            name: string;
        };
        WebhookRuleDto: {
            /**
             * @description Events of this type; of the external-events family, their `type`. There is no wildcard: write an entry for each type.
             * @example purchase
             */
            eventType?: string;
            /**
             * @description Only events of this source; any when absent.
             * @example shop.orders
             */
            source?: string;
            /**
             * @description Only events for which this is truthy: a rule in JsonLogic over `event`, as reactions have it.
             * @example {
             *       ">=": [
             *         {
             *           "var": "event.properties.amount"
             *         },
             *         20
             *       ]
             *     }
             */
            when?: {
                [key: string]: unknown;
            };
            change?: components["schemas"]["WebhookChangeDto"];
        };
        /**
         * @description What calls are signed with; `hmac-sha256` when absent.
         * @enum {string}
         */
        WebhookAlgorithm: "hmac-sha256" | "ed25519";
        CreateWebhookDto: {
            /**
             * @description Events and changes that fit any of these rules are sent, once each.
             * @example [
             *       {
             *         "eventType": "purchase"
             *       },
             *       {
             *         "change": {
             *           "scope": "user",
             *           "name": "points"
             *         }
             *       }
             *     ]
             */
            events: components["schemas"]["WebhookRuleDto"][];
            algorithm?: components["schemas"]["WebhookAlgorithm"];
            /**
             * @description Where calls go: an https URL of a public host.
             * @example https://hooks.example.com/campaigns
             */
            url: string;
            /**
             * @description What the endpoint is for, in your words.
             * @example loyalty service
             */
            description?: string;
            /** @description True sends identity, participants and personal properties as they are; requires the scope `pii:read`. */
            unmask?: boolean;
        };
        WebhookDto: {
            /**
             * @example [
             *       {
             *         "eventType": "purchase"
             *       },
             *       {
             *         "change": {
             *           "scope": "user",
             *           "name": "points"
             *         }
             *       }
             *     ]
             */
            events: components["schemas"]["WebhookRuleDto"][];
            algorithm: components["schemas"]["WebhookAlgorithm"];
            /**
             * @description `gone`: it answered 410. `failing`: every attempt failed for five days.
             * @enum {string|null}
             */
            disabledReason: "manual" | "gone" | "failing" | null;
            id: string;
            /** @example https://hooks.example.com/campaigns */
            url: string;
            /** @example loyalty service */
            description: string | null;
            unmask: boolean;
            /** @description While it is disabled, deliveries are kept and nothing is sent. */
            enabled: boolean;
            /** Format: date-time */
            disabledAt: string | null;
            /**
             * Format: date-time
             * @description Since when every attempt has failed.
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Until then the secret before the last rotation signs, too; the one before it until its own 24 hours are over.
             */
            previousSecretUntil: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential that created it, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
            /** Format: date-time */
            updatedAt: string;
        };
        IssuedWebhookDto: {
            webhook: components["schemas"]["WebhookDto"];
            /**
             * @description Verifies signatures, shown here and never again: `whsec_`, or with `ed25519` the public key, `whpk_`.
             * @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDVqAgZ/3dO+s=
             */
            secret: string;
        };
        WebhookPageDto: {
            items: components["schemas"]["WebhookDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        ChangeWebhookDto: {
            /**
             * @description Replaces all rules. A new rule is for events that are received, and changes that are made, from now on.
             * @example [
             *       {
             *         "eventType": "purchase"
             *       },
             *       {
             *         "change": {
             *           "scope": "user",
             *           "name": "points"
             *         }
             *       }
             *     ]
             */
            events?: components["schemas"]["WebhookRuleDto"][];
            /**
             * @description Where calls go from now on, also those that wait.
             * @example https://hooks.example.com/campaigns
             */
            url?: string;
            /** @description Empty removes it. */
            description?: string;
            /** @description True requires the scope `pii:read`. */
            unmask?: boolean;
        };
        AttemptDto: {
            /** @enum {string} */
            outcome: "delivered" | "refused_status" | "timed_out" | "address_refused" | "not_resolved" | "not_connected";
            /**
             * @description Null: there was no answer.
             * @example 204
             */
            status: number | null;
            /**
             * @description The first 1,000 characters; in lists with personal data masked.
             * @example
             */
            answer: string;
            /** @example 120 */
            durationMs: number;
            /** Format: date-time */
            at: string;
        };
        DeliveryDto: {
            /**
             * @description What is sent.
             * @example event
             * @enum {string}
             */
            kind: "event" | "change";
            /** @enum {string} */
            state: "pending" | "delivered" | "failed";
            /**
             * @description Why it failed.
             * @enum {string|null}
             */
            reason: "attempts_used_up" | "event_gone" | "profile_erased" | "change_expired" | null;
            /** @example 1 */
            attemptCount: number;
            /** @description The last 20, oldest first. */
            attempts: components["schemas"]["AttemptDto"][];
            /** @description The id of the event, or of the change: the `webhook-id` of every attempt. */
            id: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was delivered, or failed.
             */
            doneAt: string | null;
        };
        DeliveryPageDto: {
            items: components["schemas"]["DeliveryDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        StartWebhookReplayDto: {
            /**
             * Format: date-time
             * @description Events received from then on. With an offset or `Z`.
             * @example 2026-01-01T00:00:00Z
             */
            from: string;
            /**
             * Format: date-time
             * @description And before then. A range ends with the last event received so far: later events are delivered anyway.
             * @example 2026-02-01T00:00:00Z
             */
            to: string;
        };
        WebhookReplayStartedDto: {
            /** @description The id for `GET …/replays/{jobId}`, which shows the progress. */
            jobId: string;
        };
        /**
         * @description `done`: all events are queued for delivery. `failed`: it ended early, and `reason` says why.
         * @enum {string}
         */
        WebhookReplayState: "queued" | "running" | "done" | "cancelled" | "failed";
        /**
         * @description Of a failed one: the rules of the webhook were changed, or the job gave up.
         * @enum {string}
         */
        WebhookReplayEndReason: "webhook_changed" | "gave_up";
        WebhookReplayDto: {
            state: components["schemas"]["WebhookReplayState"];
            reason?: components["schemas"]["WebhookReplayEndReason"];
            /**
             * @description Events of the subscribed types in the range; null until they are counted.
             * @example 100
             */
            total: number | null;
            /**
             * @description How many of them were looked at.
             * @example 60
             */
            scanned: number;
            /**
             * @description Those that are delivered because of this replay, with their `webhook-id` of before.
             * @example 44
             */
            queued: number;
            /**
             * @description Those whose delivery was waiting anyway. It is made once.
             * @example 1
             */
            alreadyQueued: number;
            /**
             * @description Those that fit no rule, or whose person was erased.
             * @example 15
             */
            skipped: number;
            /**
             * @description Those with which `when` cannot be evaluated.
             * @example 0
             */
            failed: number;
            /**
             * @description Those that expired after they were counted. Events that were removed earlier are not counted.
             * @example 0
             */
            expired: number;
            jobId: string;
            webhookId: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
        };
        WebhookReplayPageDto: {
            items: components["schemas"]["WebhookReplayDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        CreateApiKeyDto: {
            /**
             * Format: date-time
             * @description When the key expires: ISO 8601 with an offset, at most 366 days ahead, and no later than the key that creates it. Not
             *     together with `expiresInDays`.
             */
            expiresAt?: string;
            /**
             * @description What the key is for, in your words.
             * @example web shop
             */
            name: string;
            /**
             * @description What the key may do; a caller can grant only what it has.
             * @example [
             *       "cdp-events:write"
             *     ]
             */
            scopes: ("external-events:write" | "cdp-events:write" | "events:read" | "event-types:read" | "event-types:write" | "profiles:read" | "profiles:write" | "pii:read" | "review:read" | "review:write" | "variables:read" | "variables:write" | "reactions:read" | "reactions:write" | "state:read" | "state:write" | "webhooks:read" | "webhooks:write" | "api-keys:read" | "api-keys:write" | "jwt-issuers:read" | "jwt-issuers:write" | "service-credentials:read" | "service-credentials:write" | "admin")[];
            /**
             * @description The event sources the key may send; absent: all.
             * @example [
             *       "shop.orders"
             *     ]
             */
            sources?: string[];
            /**
             * @description Days until the key expires. It expires no later than the key that creates it. Default, without `expiresAt`: 90, or
             *     fewer if the creating key expires earlier.
             * @example 30
             */
            expiresInDays?: number;
        };
        /** @enum {string} */
        Scope: "external-events:write" | "cdp-events:write" | "events:read" | "event-types:read" | "event-types:write" | "profiles:read" | "profiles:write" | "pii:read" | "review:read" | "review:write" | "variables:read" | "variables:write" | "reactions:read" | "reactions:write" | "state:read" | "state:write" | "webhooks:read" | "webhooks:write" | "api-keys:read" | "api-keys:write" | "jwt-issuers:read" | "jwt-issuers:write" | "service-credentials:read" | "service-credentials:write" | "admin";
        /** @enum {string} */
        ApiKeyState: "ACTIVE" | "EXPIRED" | "REVOKED";
        ApiKeyDto: {
            scopes: components["schemas"]["Scope"][];
            state: components["schemas"]["ApiKeyState"];
            id: string;
            /** @example web shop */
            name: string;
            /**
             * @description Its first 8 and last 4 characters.
             * @example cds_4fJ0…jyrI
             */
            hint: string;
            /**
             * @description Null: every source.
             * @example [
             *       "shop.orders"
             *     ]
             */
            sources: string[] | null;
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential that created it, `bootstrap`, `command line`, or `oidc:` and the subject of a person. */
            createdBy: string;
            /**
             * Format: date-time
             * @description Null: never. A key that rotates itself gets its full lifetime again. Rotated by another key, it expires no later than that one.
             * @example 2026-04-02T03:04:05.000Z
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description To the minute.
             */
            lastUsedAt: string | null;
            /** Format: date-time */
            revokedAt: string | null;
            /** @description The key that this one replaced. */
            rotatedFrom: string | null;
            /** @description The key that replaced this one. */
            rotatedTo: string | null;
        };
        IssuedApiKeyDto: {
            apiKey: components["schemas"]["ApiKeyDto"];
            /**
             * @description The key itself, shown here and never again.
             * @example cds_4fJ0t2b9QmZr7XcKpV3sLw8yNeHaUdG12wjyrI
             */
            key: string;
        };
        ApiKeyPageDto: {
            items: components["schemas"]["ApiKeyDto"][];
            nextCursor: string | null;
        };
        /** @enum {string} */
        ApiKeyAction: "created" | "rotated" | "revoked";
        ApiKeyAuditEntryDto: {
            action: components["schemas"]["ApiKeyAction"];
            /** Format: date-time */
            at: string;
            /** @description The id of the credential that did it, `bootstrap`, `command line`, or `oidc:` and the subject of a person. */
            by: string;
            /** @description The network address of the caller; null when the service did it at its start. */
            address: string | null;
        };
        ApiKeyAuditPageDto: {
            items: components["schemas"]["ApiKeyAuditEntryDto"][];
            nextCursor: string | null;
        };
        IssuerClaimsDto: {
            /**
             * @description The claim that names the campaign; `campaign_id` when absent.
             * @example https://example.com/campaign
             */
            campaign?: string;
            /**
             * @description The claim that names the app; `app_id` when absent.
             * @example azp
             */
            app?: string;
        };
        CreateJwtIssuerDto: {
            /**
             * @description Its public keys (RFC 7517): 1 to 20, at most 64 KiB of JSON. RSA of 2048 to 8192 bits with an odd exponent from 3
             *     to 4294967295, or P-256.
             * @example {
             *       "keys": [
             *         {
             *           "kty": "EC",
             *           "crv": "P-256",
             *           "kid": "1",
             *           "x": "WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis",
             *           "y": "y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE"
             *         }
             *       ]
             *     }
             */
            jwks?: {
                [key: string]: unknown;
            };
            /**
             * @description The exact `iss` of its tokens. Together with `audience` it names the workspace. Where several workspaces have
             *     registered the same pair, requests name theirs in `X-Workspace`; the default is the one that registered the pair first.
             * @example https://login.example.com/
             */
            issuer: string;
            /**
             * @description The `aud` of its tokens, or one of them.
             * @example campaigns
             */
            audience: string;
            /**
             * @description The algorithms of its tokens. Default: RS256, PS256 and ES256; with a `secret` HS256, the only one possible there.
             * @example [
             *       "RS256"
             *     ]
             */
            algorithms?: ("RS256" | "PS256" | "ES256" | "HS256")[];
            /**
             * @description Where its keys are published (RFC 7517): an https URL with a public address. A new issuer needs one of `jwksUri`, `jwks` and `secret`.
             * @example https://login.example.com/.well-known/jwks.json
             */
            jwksUri?: string;
            /** @description A secret shared with it, for HS256: 32 to 1,024 bytes in UTF-8. Stored encrypted, and never shown. */
            secret?: string;
            claims?: components["schemas"]["IssuerClaimsDto"];
            /**
             * @description The campaign of requests that name none, when the token names none either.
             * @example spring-sale
             */
            defaultCampaignId?: string;
            /**
             * @description The campaigns that tokens without a campaign claim may use; absent: every campaign of the workspace.
             * @example [
             *       "spring-sale",
             *       "summer-sale"
             *     ]
             */
            allowedCampaignIds?: string[];
            /** @description How many seconds its clock may be ahead or behind. Default: 5. */
            clockToleranceSeconds?: number;
        };
        /** @enum {string} */
        JwtAlgorithm: "RS256" | "PS256" | "ES256" | "HS256";
        /** @enum {string} */
        KeySource: "jwksUri" | "jwks" | "secret";
        IssuerClaimNamesDto: {
            /** @example campaign_id */
            campaign: string;
            /** @example app_id */
            app: string;
        };
        JwtIssuerDto: {
            algorithms: components["schemas"]["JwtAlgorithm"][];
            keySource: components["schemas"]["KeySource"];
            jwks: {
                [key: string]: unknown;
            } | null;
            id: string;
            /** @example https://login.example.com/ */
            issuer: string;
            /** @example campaigns */
            audience: string;
            /** @example https://login.example.com/.well-known/jwks.json */
            jwksUri: string | null;
            claims: components["schemas"]["IssuerClaimNamesDto"];
            defaultCampaignId: string | null;
            /** @description Null: every campaign of the workspace. */
            allowedCampaignIds: string[] | null;
            /** @example 5 */
            clockToleranceSeconds: number;
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential that created it, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
        };
        JwtIssuerPageDto: {
            items: components["schemas"]["JwtIssuerDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        JwtIssuerSettingsDto: {
            /**
             * @description Its public keys (RFC 7517): 1 to 20, at most 64 KiB of JSON. RSA of 2048 to 8192 bits with an odd exponent from 3
             *     to 4294967295, or P-256.
             * @example {
             *       "keys": [
             *         {
             *           "kty": "EC",
             *           "crv": "P-256",
             *           "kid": "1",
             *           "x": "WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis",
             *           "y": "y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE"
             *         }
             *       ]
             *     }
             */
            jwks?: {
                [key: string]: unknown;
            };
            /**
             * @description The algorithms of its tokens. Default: RS256, PS256 and ES256; with a `secret` HS256, the only one possible there.
             * @example [
             *       "RS256"
             *     ]
             */
            algorithms?: ("RS256" | "PS256" | "ES256" | "HS256")[];
            /**
             * @description Where its keys are published (RFC 7517): an https URL with a public address. A new issuer needs one of `jwksUri`, `jwks` and `secret`.
             * @example https://login.example.com/.well-known/jwks.json
             */
            jwksUri?: string;
            /** @description A secret shared with it, for HS256: 32 to 1,024 bytes in UTF-8. Stored encrypted, and never shown. */
            secret?: string;
            claims?: components["schemas"]["IssuerClaimsDto"];
            /**
             * @description The campaign of requests that name none, when the token names none either.
             * @example spring-sale
             */
            defaultCampaignId?: string;
            /**
             * @description The campaigns that tokens without a campaign claim may use; absent: every campaign of the workspace.
             * @example [
             *       "spring-sale",
             *       "summer-sale"
             *     ]
             */
            allowedCampaignIds?: string[];
            /** @description How many seconds its clock may be ahead or behind. Default: 5. */
            clockToleranceSeconds?: number;
        };
        /** @enum {string} */
        AuditKind: "api_key" | "jwt_issuer" | "service_credential" | "webhook" | "retention" | "unmasked_read" | "erasure";
        /** @enum {string} */
        AuditAction: "created" | "rotated" | "revoked" | "changed" | "deleted" | "enabled" | "disabled" | "secret_rotated" | "read" | "exported" | "erased" | "lifted";
        AuditLogEntryDto: {
            kind: components["schemas"]["AuditKind"];
            action: components["schemas"]["AuditAction"];
            id: string;
            /** Format: date-time */
            at: string;
            /**
             * @description The id of the key, issuer, service credential, webhook or erased profile; null for an unmasked read and for
             *     retention.
             */
            recordId: string | null;
            /**
             * @description The name of the issuer, service credential or webhook; how retention has changed; or the request that read unmasked
             *     data with the ids of what it showed. At most 1,000 characters. Null for keys and erasures.
             * @example warehouse
             */
            detail: string | null;
            /** @description The id of the credential that did it, `bootstrap`, `command line`, or `oidc:` and the subject of a person. */
            by: string;
            /** @description The network address of the caller; null for the service itself. */
            address: string | null;
        };
        AuditLogPageDto: {
            items: components["schemas"]["AuditLogEntryDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        CreateServiceCredentialDto: {
            /**
             * @description The public half of an Ed25519 pair, SPKI in PEM; not for `hmac-sha256`, whose secret the service makes.
             * @example -----BEGIN PUBLIC KEY-----
             *     MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
             *     -----END PUBLIC KEY-----
             */
            publicKey?: string;
            /**
             * @description What the credential is for, in your words.
             * @example web shop
             */
            name: string;
            /**
             * @description What requests are signed with: a key pair of your own, or a shared secret.
             * @example ed25519
             * @enum {string}
             */
            algorithm: "ed25519" | "hmac-sha256";
        };
        /** @enum {string} */
        SignatureAlgorithm: "ed25519" | "hmac-sha256";
        /** @enum {string} */
        ServiceCredentialState: "ACTIVE" | "REVOKED";
        ServiceCredentialDto: {
            algorithm: components["schemas"]["SignatureAlgorithm"];
            state: components["schemas"]["ServiceCredentialState"];
            /** @description The `keyid` of its signatures. */
            id: string;
            /** @example web shop */
            name: string;
            /** @description SPKI in PEM; null for `hmac-sha256`. */
            publicKey: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the credential that created it, `oidc:` and the subject of a person, or a name such as `command line`. */
            createdBy: string;
            /**
             * Format: date-time
             * @description To the minute.
             */
            lastUsedAt: string | null;
            /** Format: date-time */
            revokedAt: string | null;
        };
        IssuedServiceCredentialDto: {
            serviceCredential: components["schemas"]["ServiceCredentialDto"];
            /**
             * @description With `hmac-sha256`: the secret, shown here and never again. The key of the HMAC is the UTF-8 bytes of this text.
             * @example hVnq7eJx0cWmB4rYtZ2uKsLd9pQ3oFgA1iXbNvE8RwM
             */
            secret?: string;
        };
        ServiceCredentialPageDto: {
            items: components["schemas"]["ServiceCredentialDto"][];
            /** @description Null at the end. */
            nextCursor: string | null;
        };
        ProblemDetails: {
            /** @description The problem, as a relative reference that never changes: `/problems/<error_code>`. */
            type: string;
            /** @description The problem in short. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What is wrong with this request; the same as `message`. */
            detail: string;
            /** @enum {string} */
            error_code: "malformed_json" | "system_field" | "undeclared_variable" | "unauthenticated" | "invalid_api_key" | "api_key_expired" | "api_key_revoked" | "invalid_token" | "invalid_signature" | "insufficient_scope" | "source_not_allowed" | "cross_site_request" | "proof_required" | "context_violation" | "not_found" | "method_not_allowed" | "identity_conflict" | "profile_erased" | "key_revoked" | "entry_not_open" | "reaction_disabled" | "backfill_running" | "replay_running" | "issuer_taken" | "variable_limit_exceeded" | "variable_type_conflict" | "variable_rules_conflict" | "limit_reached" | "incompatible_event_type" | "event_expired" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "batch_too_large" | "campaign_required" | "rate_limited" | "internal" | "unavailable";
            /** @description What is wrong with this request. */
            message: string;
            /** @description Every fault found. */
            details: {
                /**
                 * @description The field, the way the client wrote it.
                 * @example identity.type
                 */
                path: string;
                /** @enum {string} */
                code: "required" | "type" | "empty" | "too_long" | "too_short" | "enum" | "format" | "range" | "unknown_field" | "too_many_items" | "duplicate" | "too_few_items" | "too_large" | "too_deep" | "too_many_keys" | "too_many_faults" | "invalid_characters" | "missing_offset" | "conflicting_fields" | "secrets_key_missing" | "reserved_name" | "placeholder_identity" | "invalid_phone" | "identity_required" | "identity_conflict" | "profile_erased" | "source_not_allowed" | "not_replayable" | "other_event" | "masked_value" | "system_field" | "undeclared_variable" | "unknown_operator" | "too_costly" | "timed_out" | "interrupted" | "personal_data" | "condition_failed" | "limit_reached" | "limit_exceeded" | "context_violation" | "unregistered_event_type" | "unknown_property" | "property_removed" | "property_added_required" | "property_type_changed" | "property_made_required" | "enum_narrowed" | "format_changed" | "additional_properties_rejected";
                /** @description What is wrong and how to correct it; never the value itself. */
                message: string;
            }[];
            /** @description The `X-Request-Id` of this answer. */
            request_id: string;
            /** @description The state path of a refused mutation. */
            path?: string;
        };
    };
    responses: {
        /** @description Any other error has the same form (RFC 9457). */
        OtherProblem: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Method Not Allowed.
         *     - `method_not_allowed`: The route does not take this method. Use one of the methods that `Allow` names.
         */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Internal Server Error.
         *     - `internal`: Internal error. Your request is not the cause; retry with the same event id. If the error persists, report the request id.
         */
        Internal: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Service Unavailable.
         *     - `unavailable`: The service cannot answer now. Send the same again after `Retry-After` seconds; what it changes takes effect once.
         */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Bad Request.
         *     - `malformed_json`: The body is not JSON. Send one JSON value in UTF-8.
         */
        MalformedJson: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unauthorized.
         *     - `unauthenticated`: A credential is needed. Send `Authorization: Bearer <API key>`.
         *     - `invalid_api_key`: The API key is not known. Check for a typo; create a new key if it is lost.
         *     - `api_key_expired`: The API key has expired. Rotate it or create a new one.
         *     - `api_key_revoked`: The API key was revoked. Use the key that replaced it.
         *     - `invalid_signature`: The signature was rejected. Sign exactly this request again, with a correct clock.
         */
        UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevokedOrInvalidSignature: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Forbidden.
         *     - `insufficient_scope`: The credential lacks a scope. Use a credential that has the scope named in the challenge.
         *     - `source_not_allowed`: The credential may not send this source. Use a credential whose `sources` names it.
         */
        InsufficientScopeOrSourceNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `identity_conflict`: The identifiers belong to two customers. Correct the identity, or name the EXTERNAL identifier too.
         *     - `profile_erased`: The person was erased. Stop sending events of this person, or lift the erasure if the customer has returned.
         */
        IdentityConflictOrProfileErased: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Payload Too Large.
         *     - `payload_too_large`: The body is over its byte limit. Send less in one request.
         */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unsupported Media Type.
         *     - `unsupported_media_type`: The body is not of a type this route takes. Send `Content-Type: application/json` in UTF-8, plain or gzip.
         */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unprocessable Entity.
         *     - `validation_failed`: The input is not valid. Correct each fault that `details` names and send it again.
         */
        ValidationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Too Many Requests.
         *     - `rate_limited`: Too many requests. Wait for the seconds in `Retry-After` and send it again.
         */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Forbidden.
         *     - `insufficient_scope`: The credential lacks a scope. Use a credential that has the scope named in the challenge.
         */
        InsufficientScope: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unprocessable Entity.
         *     - `validation_failed`: The input is not valid. Correct each fault that `details` names and send it again.
         *     - `batch_too_large`: The batch has too many items. Split it.
         */
        ValidationFailedOrBatchTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unauthorized.
         *     - `unauthenticated`: A credential is needed. Send `Authorization: Bearer <API key>`.
         *     - `invalid_api_key`: The API key is not known. Check for a typo; create a new key if it is lost.
         *     - `api_key_expired`: The API key has expired. Rotate it or create a new one.
         *     - `api_key_revoked`: The API key was revoked. Use the key that replaced it.
         */
        UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Not Found.
         *     - `not_found`: There is no such route or record. Check the address; a record of another workspace is not found either.
         */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Gone.
         *     - `event_expired`: The event has expired. Do not ask again: it was removed when its retention ended. Its event id stays known.
         */
        EventExpired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unauthorized.
         *     - `unauthenticated`: A credential is needed. Send `Authorization: Bearer <API key>`.
         *     - `invalid_token`: The token was rejected. Get a new token from an issuer that the workspace knows.
         */
        UnauthenticatedOrInvalidToken: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Forbidden.
         *     - `context_violation`: The request is outside of the token's context. Name no other campaign, app or participant than the token is for.
         */
        ContextViolation: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Unprocessable Entity.
         *     - `validation_failed`: The input is not valid. Correct each fault that `details` names and send it again.
         *     - `campaign_required`: No campaign is named. Send `campaign_id`, or have the token or its issuer name a campaign.
         */
        ValidationFailedOrCampaignRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Bad Request.
         *     - `malformed_json`: The body is not JSON. Send one JSON value in UTF-8.
         *     - `system_field`: The mutation writes to a field of the system. Remove the operations that `details` names.
         *     - `undeclared_variable`: The mutation writes to a variable that the campaign does not declare. Correct the paths that `details` names, or define the variables.
         */
        MalformedJsonOrSystemFieldOrUndeclaredVariable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `limit_reached`: A value would leave its limits. Change the value by less, or change the limits of the variable.
         */
        LimitReached: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `variable_limit_exceeded`: The scope has as many variables as it may have. Archive a variable that is no longer used, or use another campaign if it has no names left.
         *     - `variable_type_conflict`: The variable has another type. Declare it with the type that it has, or take another name.
         *     - `variable_rules_conflict`: Other campaigns declare other limits or another period. Declare the same as the other campaigns, or archive the variable there first.
         *     - `limit_reached`: A value would leave its limits. Change the value by less, or change the limits of the variable.
         */
        VariableLimitExceededOrVariableTypeConflictOrVariableRulesConflictOrLimitReached: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `incompatible_event_type`: The new version would break senders. Make the change compatible, or send `force: true`.
         */
        IncompatibleEventType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `entry_not_open`: The review entry is closed. Replay open entries only; `message` says what has become of this one.
         */
        EntryNotOpen: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `reaction_disabled`: The reaction is switched off. Define it with `enabled: true` first.
         *     - `backfill_running`: A backfill of this reaction is running. Wait until it is over, or cancel it.
         */
        ReactionDisabledOrBackfillRunning: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `replay_running`: A replay of this webhook is running. Wait until it is over, or cancel it.
         */
        ReplayRunning: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `key_revoked`: The API key was revoked. Create a new key; a revoked key stays revoked.
         */
        KeyRevoked: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /**
         * @description Conflict.
         *     - `issuer_taken`: The workspace has registered the issuer and audience already. Change or delete that record, or register another audience.
         */
        IssuerTaken: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Names this request in logs and traces; the id that the client has sent, if it is well formed.
         * @example 2f1c9d52-6f7b-4c0e-8a3d-5b9e1c7f4a60
         */
        "X-Request-Id": string;
        /**
         * @description What is wrong with the credential (RFC 6750), and which scope it lacks.
         * @example Bearer realm="campaign-data-service", error="invalid_token"
         */
        "WWW-Authenticate": string;
        /**
         * @description Seconds to wait before the same is sent again.
         * @example 1
         */
        "Retry-After": number;
        /**
         * @description What is left of the limit (`r`) and the seconds until all of it is there again (`t`); where the operator has set one.
         * @example "events";r=99;t=1
         */
        RateLimit: string;
        /**
         * @description The limit (`q`) in a window of seconds (`w`); where the operator has set one.
         * @example "events";q=100;w=1
         */
        "RateLimit-Policy": string;
        /**
         * @description The methods that this address takes.
         * @example GET, HEAD, POST
         */
        Allow: string;
        /**
         * @description `true` when the `mutation_id` was used before, with other operations; the answer is that of the original.
         * @example true
         */
        "Mutation-Payload-Mismatch": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    checkLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["HealthDto"];
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["Internal"];
            default: components["responses"]["OtherProblem"];
        };
    };
    checkReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["HealthDto"];
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    readMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Numbers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example # HELP cds_ready 1 while the process can be sent requests, 0 for each reason why not
                     *     # TYPE cds_ready gauge
                     *     cds_ready{reason="ready"} 1
                     */
                    "text/plain": string;
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    takeExternalEvent: {
        parameters: {
            query?: {
                /** @description `true` answers as the live call would and writes nothing. */
                dry_run?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "attributes": {
                 *         "amount": 29.33,
                 *         "currency": "USD"
                 *       },
                 *       "source": "shop.orders",
                 *       "external_event_id": "order-4711",
                 *       "type": "purchase",
                 *       "occurred_at": "2026-01-02T03:04:05Z",
                 *       "identity": {
                 *         "type": "EMAIL",
                 *         "value": "jane@example.com"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ExternalEventDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "duplicate",
                     *       "original_event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["DuplicateResultDto"];
                };
            };
            /** @description Taken: stored and queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "accepted",
                     *       "event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["AcceptedResultDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevokedOrInvalidSignature"];
            403: components["responses"]["InsufficientScopeOrSourceNotAllowed"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IdentityConflictOrProfileErased"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    takeExternalEvents: {
        parameters: {
            query?: {
                /** @description `true` answers as the live call would and writes nothing. */
                dry_run?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "attributes": {
                 *             "amount": 29.33,
                 *             "currency": "USD"
                 *           },
                 *           "source": "shop.orders",
                 *           "external_event_id": "order-4711",
                 *           "type": "purchase",
                 *           "occurred_at": "2026-01-02T03:04:05Z",
                 *           "identity": {
                 *             "type": "EMAIL",
                 *             "value": "jane@example.com"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ExternalEventBatchDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "status": "accepted",
                     *           "event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *         },
                     *         {
                     *           "status": "duplicate",
                     *           "original_event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *         },
                     *         {
                     *           "status": "error",
                     *           "error_code": "validation_failed",
                     *           "details": [
                     *             {
                     *               "code": "required",
                     *               "path": "identity.type",
                     *               "message": "identity.type is required."
                     *             }
                     *           ],
                     *           "message": "identity.type is required."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BatchResultDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevokedOrInvalidSignature"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrBatchTooLarge"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                source?: string;
                /** @description With `source`: the one event of this name, or none. */
                externalEventId?: string;
                eventType?: string;
                family?: "external" | "cdp";
                /** @description How far the events have come. */
                state?: "queued" | "processed" | "failed";
                /** @description Events that were received at this time or later. */
                from?: string;
                /** @description Events that were received before this time. */
                to?: string;
                /**
                 * @description `desc`, newest first, when absent. `asc` lists in the order of receipt and ends at `completeBefore`, so that no event comes
                 *     before one that was shown, replayed ones excepted.
                 */
                order?: "asc" | "desc";
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "family": "external",
                     *           "occurredAt": "2026-01-02T03:04:05.000Z",
                     *           "receivedAt": "2026-01-02T03:04:05.000Z",
                     *           "identity": {
                     *             "EMAIL": "j***@e***.com"
                     *           },
                     *           "properties": {
                     *             "amount": 29.33,
                     *             "quantity": 2
                     *           },
                     *           "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "source": "shop.orders",
                     *           "externalEventId": "order-4711",
                     *           "eventType": "purchase",
                     *           "eventTypeVersion": null,
                     *           "profileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "processing": {
                     *             "state": "queued",
                     *             "processedAt": null,
                     *             "attempts": 1,
                     *             "lastError": null,
                     *             "reactions": [
                     *               {
                     *                 "outcome": "applied",
                     *                 "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *                 "name": "points"
                     *               }
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EventPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getEvent: {
        parameters: {
            query?: {
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "family": "external",
                     *       "occurredAt": "2026-01-02T03:04:05.000Z",
                     *       "receivedAt": "2026-01-02T03:04:05.000Z",
                     *       "identity": {
                     *         "EMAIL": "j***@e***.com"
                     *       },
                     *       "properties": {
                     *         "amount": 29.33,
                     *         "quantity": 2
                     *       },
                     *       "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "source": "shop.orders",
                     *       "externalEventId": "order-4711",
                     *       "eventType": "purchase",
                     *       "eventTypeVersion": null,
                     *       "profileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "processing": {
                     *         "state": "queued",
                     *         "processedAt": null,
                     *         "attempts": 1,
                     *         "lastError": null,
                     *         "reactions": [
                     *           {
                     *             "outcome": "applied",
                     *             "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *             "name": "points"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["EventDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            410: components["responses"]["EventExpired"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listReviewEntries: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                status?: "open" | "replayed" | "dismissed" | "superseded";
                /** @description The step of the pipeline where the problem occurred. */
                stage?: "request" | "authorization" | "validation" | "contract" | "identity" | "processing";
                reason?: string;
                source?: string;
                eventType?: string;
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "severity": "error",
                     *           "stage": "request",
                     *           "details": [
                     *             {
                     *               "code": "required",
                     *               "path": "identity.type",
                     *               "message": "identity.type is required."
                     *             }
                     *           ],
                     *           "family": "external",
                     *           "payload": {
                     *             "source": "shop.orders",
                     *             "external_event_id": "order-4711",
                     *             "type": "purchase",
                     *             "identity": {}
                     *           },
                     *           "payloadState": "whole",
                     *           "status": "open",
                     *           "resolution": null,
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "reason": "required",
                     *           "message": "identity.type is required.",
                     *           "source": "shop.orders",
                     *           "externalEventId": "order-4711",
                     *           "eventType": "purchase",
                     *           "occurrences": 1,
                     *           "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *           "lastSeenAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    summarizeReviewEntries: {
        parameters: {
            query?: {
                /** @description The status of the entries to count; `open` when absent. */
                status?: "open" | "replayed" | "dismissed" | "superseded";
                /** @description The step of the pipeline where the problem occurred. */
                stage?: "request" | "authorization" | "validation" | "contract" | "identity" | "processing";
                reason?: string;
                source?: string;
                eventType?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "open",
                     *       "total": 1,
                     *       "byReason": [
                     *         {
                     *           "reason": "required",
                     *           "count": 1
                     *         }
                     *       ],
                     *       "bySource": [
                     *         {
                     *           "source": "shop.orders",
                     *           "count": 1
                     *         }
                     *       ],
                     *       "byEventType": [
                     *         {
                     *           "eventType": "purchase",
                     *           "count": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewSummaryDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getReviewEntry: {
        parameters: {
            query?: {
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "severity": "error",
                     *       "stage": "request",
                     *       "details": [
                     *         {
                     *           "code": "required",
                     *           "path": "identity.type",
                     *           "message": "identity.type is required."
                     *         }
                     *       ],
                     *       "family": "external",
                     *       "payload": {
                     *         "source": "shop.orders",
                     *         "external_event_id": "order-4711",
                     *         "type": "purchase",
                     *         "identity": {}
                     *       },
                     *       "payloadState": "whole",
                     *       "status": "open",
                     *       "resolution": null,
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "reason": "required",
                     *       "message": "identity.type is required.",
                     *       "source": "shop.orders",
                     *       "externalEventId": "order-4711",
                     *       "eventType": "purchase",
                     *       "occurrences": 1,
                     *       "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *       "lastSeenAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewEntryDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    dismissReviewEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "note": "Test data of the agency"
                 *     }
                 */
                "application/json": components["schemas"]["DismissDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "severity": "error",
                     *       "stage": "request",
                     *       "details": [
                     *         {
                     *           "code": "required",
                     *           "path": "identity.type",
                     *           "message": "identity.type is required."
                     *         }
                     *       ],
                     *       "family": "external",
                     *       "payload": {
                     *         "source": "shop.orders",
                     *         "external_event_id": "order-4711",
                     *         "type": "purchase",
                     *         "identity": {}
                     *       },
                     *       "payloadState": "whole",
                     *       "status": "open",
                     *       "resolution": null,
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "reason": "required",
                     *       "message": "identity.type is required.",
                     *       "source": "shop.orders",
                     *       "externalEventId": "order-4711",
                     *       "eventType": "purchase",
                     *       "occurrences": 1,
                     *       "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *       "lastSeenAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewEntryDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    dismissReviewEntries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filter": {
                 *         "reason": "unregistered_event_type"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BulkDismissalDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["BulkDismissalStartedDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getReviewDismissal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "total": 1,
                     *       "dismissed": 1,
                     *       "filter": {
                     *         "reason": "unregistered_event_type"
                     *       },
                     *       "note": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewDismissalDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    cancelReviewDismissal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "total": 1,
                     *       "dismissed": 1,
                     *       "filter": {
                     *         "reason": "unregistered_event_type"
                     *       },
                     *       "note": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewDismissalDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    readState: {
        parameters: {
            query?: {
                /** @description The campaign, if neither the path nor the token names it; `campaignId` is accepted, too. */
                campaign_id?: string;
            };
            header?: {
                /** @description The name of the workspace that the token is for, where several have registered its issuer and audience. Without it, the token is for the one that registered them first. */
                "X-Workspace"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": {
                     *         "user": {
                     *           "points": 120
                     *         },
                     *         "campaign": {
                     *           "revenue": 29.33
                     *         },
                     *         "app": {}
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StateDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidToken"];
            403: components["responses"]["ContextViolation"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailedOrCampaignRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    mutateState: {
        parameters: {
            query?: {
                /** @description The campaign, if neither the path nor the token names it; `campaignId` is accepted, too. */
                campaign_id?: string;
            };
            header?: {
                /** @description The name of the workspace that the token is for, where several have registered its issuer and audience. Without it, the token is for the one that registered them first. */
                "X-Workspace"?: string;
                /** @description An alias of `mutation_id`, as `"abc"` (a string of RFC 9651) or `abc`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ops": [
                 *         {
                 *           "path": "state.user.points",
                 *           "op": "inc",
                 *           "value": 10
                 *         }
                 *       ],
                 *       "mutation_id": "checkout-4711"
                 *     }
                 */
                "application/json": components["schemas"]["MutationDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Mutation-Payload-Mismatch": components["headers"]["Mutation-Payload-Mismatch"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "applied",
                     *       "mutations": [
                     *         {
                     *           "previous": 100,
                     *           "current": 110,
                     *           "path": "state.user.points"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MutationResultDto"];
                };
            };
            400: components["responses"]["MalformedJsonOrSystemFieldOrUndeclaredVariable"];
            401: components["responses"]["UnauthenticatedOrInvalidToken"];
            403: components["responses"]["ContextViolation"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["LimitReached"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrCampaignRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    readCampaignState: {
        parameters: {
            query?: never;
            header?: {
                /** @description The name of the workspace that the token is for, where several have registered its issuer and audience. Without it, the token is for the one that registered them first. */
                "X-Workspace"?: string;
            };
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": {
                     *         "user": {
                     *           "points": 120
                     *         },
                     *         "campaign": {
                     *           "revenue": 29.33
                     *         },
                     *         "app": {}
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StateDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidToken"];
            403: components["responses"]["ContextViolation"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailedOrCampaignRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    mutateCampaignState: {
        parameters: {
            query?: never;
            header?: {
                /** @description The name of the workspace that the token is for, where several have registered its issuer and audience. Without it, the token is for the one that registered them first. */
                "X-Workspace"?: string;
                /** @description An alias of `mutation_id`, as `"abc"` (a string of RFC 9651) or `abc`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ops": [
                 *         {
                 *           "path": "state.user.points",
                 *           "op": "inc",
                 *           "value": 10
                 *         }
                 *       ],
                 *       "mutation_id": "checkout-4711"
                 *     }
                 */
                "application/json": components["schemas"]["MutationDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Mutation-Payload-Mismatch": components["headers"]["Mutation-Payload-Mismatch"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "applied",
                     *       "mutations": [
                     *         {
                     *           "previous": 100,
                     *           "current": 110,
                     *           "path": "state.user.points"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MutationResultDto"];
                };
            };
            400: components["responses"]["MalformedJsonOrSystemFieldOrUndeclaredVariable"];
            401: components["responses"]["UnauthenticatedOrInvalidToken"];
            403: components["responses"]["ContextViolation"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["LimitReached"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrCampaignRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listParticipants: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "sub": "customer-4711",
                     *           "state": {
                     *             "user": {
                     *               "points": 120
                     *             },
                     *             "system": {
                     *               "sessionId": null
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ParticipantPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    readParticipantState: {
        parameters: {
            query?: {
                /** @description The app whose values are shown; `default` when absent. */
                app_id?: string;
            };
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example customer-0001 */
                sub: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": {
                     *         "user": {
                     *           "points": 120
                     *         },
                     *         "campaign": {
                     *           "revenue": 29.33
                     *         },
                     *         "app": {},
                     *         "system": {
                     *           "sessionId": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ParticipantStateDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    mutateParticipantState: {
        parameters: {
            query?: never;
            header?: {
                /** @description An alias of `mutation_id`, as `"abc"` (a string of RFC 9651) or `abc`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example customer-0001 */
                sub: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ops": [
                 *         {
                 *           "path": "state.user.points",
                 *           "op": "inc",
                 *           "value": 10
                 *         }
                 *       ],
                 *       "mutation_id": "checkout-4711"
                 *     }
                 */
                "application/json": components["schemas"]["MutationDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Mutation-Payload-Mismatch": components["headers"]["Mutation-Payload-Mismatch"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "applied",
                     *       "mutations": [
                     *         {
                     *           "previous": 100,
                     *           "current": 110,
                     *           "path": "state.user.points"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MutationResultDto"];
                };
            };
            400: components["responses"]["MalformedJsonOrSystemFieldOrUndeclaredVariable"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["LimitReached"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listParticipantHistory: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                /** @description Changes at this time or later. */
                from?: string;
                /** @description Changes before this time. */
                to?: string;
                /** @description Changes of this variable only. */
                name?: string;
            };
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example customer-0001 */
                sub: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "scope": "user",
                     *           "op": "set",
                     *           "previous": 100,
                     *           "current": 110,
                     *           "at": "2026-01-02T03:04:05.000Z",
                     *           "name": "points",
                     *           "cause": {
                     *             "kind": "mutation",
                     *             "mutationId": "checkout-4711",
                     *             "actor": "customer-4711",
                     *             "reaction": "count-purchases"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["HistoryPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listSharedHistory: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                /** @description Changes at this time or later. */
                from?: string;
                /** @description Changes before this time. */
                to?: string;
                /** @description The app, for the scope `app`; `default` when absent. */
                app_id?: string;
            };
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                scope: "campaign" | "app";
                /** @example points */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "scope": "user",
                     *           "op": "set",
                     *           "previous": 100,
                     *           "current": 110,
                     *           "at": "2026-01-02T03:04:05.000Z",
                     *           "name": "points",
                     *           "cause": {
                     *             "kind": "mutation",
                     *             "mutationId": "checkout-4711",
                     *             "actor": "customer-4711",
                     *             "reaction": "count-purchases"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["HistoryPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listCampaigns: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "campaignId": "spring-sale",
                     *           "variables": 3,
                     *           "reactions": 1,
                     *           "createdAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["CampaignPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    defineVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scope": "user",
                 *       "type": "number",
                 *       "default": 0,
                 *       "min": 0,
                 *       "max": 1000,
                 *       "description": "Loyalty points",
                 *       "name": "points"
                 *     }
                 */
                "application/json": components["schemas"]["DefineVariableDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "defined",
                     *       "variable": {
                     *         "scope": "user",
                     *         "type": "number",
                     *         "default": 100,
                     *         "name": "points",
                     *         "min": 0,
                     *         "max": 1000,
                     *         "description": "Loyalty points"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DefinedVariableDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["VariableLimitExceededOrVariableTypeConflictOrVariableRulesConflictOrLimitReached"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listVariables: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "variables": [
                     *         {
                     *           "scope": "user",
                     *           "type": "number",
                     *           "default": 100,
                     *           "name": "points",
                     *           "min": 0,
                     *           "max": 1000,
                     *           "description": "Loyalty points"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["VariableListDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    archiveVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scope": "user",
                 *       "name": "points"
                 *     }
                 */
                "application/json": components["schemas"]["VariableAddressDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "archived",
                     *       "variable": {
                     *         "scope": "user",
                     *         "type": "number",
                     *         "default": 100,
                     *         "name": "points",
                     *         "min": 0,
                     *         "max": 1000,
                     *         "description": "Loyalty points"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ArchivedVariableDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    takeCdpEvent: {
        parameters: {
            query?: {
                /** @description `true` answers as the live call would and writes nothing. */
                dry_run?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "properties": {
                 *         "amount": 29.33,
                 *         "quantity": 2
                 *       },
                 *       "source": "shop.orders",
                 *       "externalEventId": "order-4711",
                 *       "eventType": "purchase",
                 *       "occurredAt": "2026-01-02T03:04:05Z",
                 *       "identity": {
                 *         "externalUserId": "customer-0001",
                 *         "email": "jane@example.com",
                 *         "phone": "+4915112345678",
                 *         "deviceKey": "d3adb33f-device"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CdpEventDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "duplicate",
                     *       "original_event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["DuplicateResultDto"];
                };
            };
            /** @description Taken: stored and queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "accepted",
                     *       "event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["AcceptedResultDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScopeOrSourceNotAllowed"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IdentityConflictOrProfileErased"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    takeCdpEvents: {
        parameters: {
            query?: {
                /** @description `true` answers as the live call would and writes nothing. */
                dry_run?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "properties": {
                 *             "amount": 29.33,
                 *             "quantity": 2
                 *           },
                 *           "source": "shop.orders",
                 *           "externalEventId": "order-4711",
                 *           "eventType": "purchase",
                 *           "occurredAt": "2026-01-02T03:04:05Z",
                 *           "identity": {
                 *             "externalUserId": "customer-0001",
                 *             "email": "jane@example.com",
                 *             "phone": "+4915112345678",
                 *             "deviceKey": "d3adb33f-device"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CdpEventBatchDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "status": "accepted",
                     *           "event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *         },
                     *         {
                     *           "status": "duplicate",
                     *           "original_event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *         },
                     *         {
                     *           "status": "error",
                     *           "error_code": "validation_failed",
                     *           "details": [
                     *             {
                     *               "code": "required",
                     *               "path": "identity.type",
                     *               "message": "identity.type is required."
                     *             }
                     *           ],
                     *           "message": "identity.type is required."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BatchResultDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrBatchTooLarge"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listEventTypes: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "properties": {
                     *             "amount": {
                     *               "type": "number",
                     *               "required": true
                     *             },
                     *             "quantity": {
                     *               "type": "integer"
                     *             }
                     *           },
                     *           "additionalProperties": "reject",
                     *           "eventType": "purchase",
                     *           "version": 1,
                     *           "description": "A customer bought something",
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "deprecatedAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypePageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    registerEventType: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "eventType": "purchase",
                 *       "description": "A customer bought something",
                 *       "properties": {
                 *         "amount": {
                 *           "type": "number",
                 *           "required": true
                 *         },
                 *         "quantity": {
                 *           "type": "integer"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RegisterEventTypeDto"];
            };
        };
        responses: {
            /** @description This definition is the current version already. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "properties": {
                     *         "amount": {
                     *           "type": "number",
                     *           "required": true
                     *         },
                     *         "quantity": {
                     *           "type": "integer"
                     *         }
                     *       },
                     *       "additionalProperties": "reject",
                     *       "eventType": "purchase",
                     *       "version": 1,
                     *       "description": "A customer bought something",
                     *       "createdAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypeDto"];
                };
            };
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "properties": {
                     *         "amount": {
                     *           "type": "number",
                     *           "required": true
                     *         },
                     *         "quantity": {
                     *           "type": "integer"
                     *         }
                     *       },
                     *       "additionalProperties": "reject",
                     *       "eventType": "purchase",
                     *       "version": 1,
                     *       "description": "A customer bought something",
                     *       "createdAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypeDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IncompatibleEventType"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    checkEventType: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "eventType": "purchase",
                 *       "description": "A customer bought something",
                 *       "properties": {
                 *         "amount": {
                 *           "type": "number",
                 *           "required": true
                 *         },
                 *         "quantity": {
                 *           "type": "integer"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RegisterEventTypeDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "outcome": "new",
                     *       "breaks": []
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypeTrialDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    inferEventType: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "eventType": "purchase"
                 *     }
                 */
                "application/json": components["schemas"]["InferEventTypeDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "properties": {
                     *         "amount": {
                     *           "type": "number",
                     *           "required": true
                     *         },
                     *         "quantity": {
                     *           "type": "integer"
                     *         }
                     *       },
                     *       "eventType": "purchase",
                     *       "stored": 1,
                     *       "refused": 1
                     *     }
                     */
                    "application/json": components["schemas"]["InferredEventTypeDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getEventType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example purchase */
                eventType: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "eventType": "purchase",
                     *       "deprecatedAt": null,
                     *       "versions": [
                     *         {
                     *           "properties": {
                     *             "amount": {
                     *               "type": "number",
                     *               "required": true
                     *             },
                     *             "quantity": {
                     *               "type": "integer"
                     *             }
                     *           },
                     *           "additionalProperties": "reject",
                     *           "eventType": "purchase",
                     *           "version": 1,
                     *           "description": "A customer bought something",
                     *           "createdAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypeHistoryDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getEventTypeJsonSchema: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example purchase */
                eventType: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "properties": {
                     *         "amount": {
                     *           "type": "number"
                     *         }
                     *       },
                     *       "$schema": "https://json-schema.org/draft/2020-12/schema",
                     *       "title": "purchase",
                     *       "type": "object",
                     *       "required": [
                     *         "amount"
                     *       ],
                     *       "additionalProperties": false,
                     *       "maxProperties": 300
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypeSchemaDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    deprecateEventType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example purchase */
                eventType: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "eventType": "purchase",
                     *       "deprecatedAt": null,
                     *       "versions": [
                     *         {
                     *           "properties": {
                     *             "amount": {
                     *               "type": "number",
                     *               "required": true
                     *             },
                     *             "quantity": {
                     *               "type": "integer"
                     *             }
                     *           },
                     *           "additionalProperties": "reject",
                     *           "eventType": "purchase",
                     *           "version": 1,
                     *           "description": "A customer bought something",
                     *           "createdAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["EventTypeHistoryDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    lookUpProfile: {
        parameters: {
            query?: {
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "EMAIL",
                 *       "value": "jane@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["IdentityLookupDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "identifiers": [
                     *         {
                     *           "type": "EXTERNAL",
                     *           "value": "cu***"
                     *         }
                     *       ],
                     *       "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *       "lastSeenAt": "2026-01-02T03:04:05.000Z",
                     *       "eventCount": 1,
                     *       "eventsExpired": 1,
                     *       "mergedFrom": []
                     *     }
                     */
                    "application/json": components["schemas"]["ProfileDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listProfiles: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "identifiers": [
                     *             {
                     *               "type": "EXTERNAL",
                     *               "value": "cu***"
                     *             }
                     *           ],
                     *           "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *           "lastSeenAt": "2026-01-02T03:04:05.000Z",
                     *           "eventCount": 1,
                     *           "eventsExpired": 1,
                     *           "mergedFrom": []
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProfilePageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getProfile: {
        parameters: {
            query?: {
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "identifiers": [
                     *         {
                     *           "type": "EXTERNAL",
                     *           "value": "cu***"
                     *         }
                     *       ],
                     *       "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *       "lastSeenAt": "2026-01-02T03:04:05.000Z",
                     *       "eventCount": 1,
                     *       "eventsExpired": 1,
                     *       "mergedFrom": []
                     *     }
                     */
                    "application/json": components["schemas"]["ProfileDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listProfileEvents: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                eventType?: string;
                source?: string;
                /** @description Events that occurred at this time or later. */
                from?: string;
                /** @description Events that occurred before this time. */
                to?: string;
                /** @description `desc`, newest first, when absent. */
                order?: "asc" | "desc";
                /** @description `true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit. */
                unmask?: "true" | "false";
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "family": "external",
                     *           "occurredAt": "2026-01-02T03:04:05.000Z",
                     *           "receivedAt": "2026-01-02T03:04:05.000Z",
                     *           "identity": {
                     *             "EMAIL": "j***@e***.com"
                     *           },
                     *           "properties": {
                     *             "amount": 29.33,
                     *             "quantity": 2
                     *           },
                     *           "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "source": "shop.orders",
                     *           "externalEventId": "order-4711",
                     *           "eventType": "purchase",
                     *           "eventTypeVersion": null,
                     *           "profileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "processing": {
                     *             "state": "queued",
                     *             "processedAt": null,
                     *             "attempts": 1,
                     *             "lastError": null,
                     *             "reactions": [
                     *               {
                     *                 "outcome": "applied",
                     *                 "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *                 "name": "points"
                     *               }
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EventPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listProfileCampaigns: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "campaignId": "spring-sale",
                     *           "state": {
                     *             "user": {
                     *               "points": 120
                     *             },
                     *             "system": {
                     *               "sessionId": null
                     *             }
                     *           },
                     *           "updatedAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["CampaignStatePageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listProfileMerges: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "fromProfileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "intoProfileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "mergedAt": "2026-01-02T03:04:05.000Z",
                     *           "undoneAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["MergePageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    undoMerge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "fromProfileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "intoProfileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "mergedAt": "2026-01-02T03:04:05.000Z",
                     *       "undoneAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["MergeDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    exportPerson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "EMAIL",
                 *       "value": "jane@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["IdentityLookupDto"];
            };
        };
        responses: {
            /** @description NDJSON: one record in each line. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "record": "profile",
                     *       "data": {
                     *         "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "source": "shop.orders"
                     *       }
                     *     }
                     */
                    "application/x-ndjson": components["schemas"]["ExportedRecordDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    exportProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description NDJSON: one record in each line. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "record": "profile",
                     *       "data": {
                     *         "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "source": "shop.orders"
                     *       }
                     *     }
                     */
                    "application/x-ndjson": components["schemas"]["ExportedRecordDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    eraseProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "erasedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ErasureDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    erasePerson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "EMAIL",
                 *       "value": "jane@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["IdentityLookupDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profileId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "erasedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ErasureDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    liftErasure: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "EMAIL",
                 *       "value": "jane@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["IdentityLookupDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "lifted"
                     *     }
                     */
                    "application/json": components["schemas"]["LiftedErasureDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    summarizeProcessing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "queued": 1,
                     *       "oldestQueuedAt": null,
                     *       "processedLastMinute": 1,
                     *       "failed": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ProcessingSummaryDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    replayReviewEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReplayDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "outcome": {
                     *         "status": "accepted",
                     *         "event_id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *       },
                     *       "reviewEntry": {
                     *         "severity": "error",
                     *         "stage": "request",
                     *         "details": [
                     *           {
                     *             "code": "required",
                     *             "path": "identity.type",
                     *             "message": "identity.type is required."
                     *           }
                     *         ],
                     *         "family": "external",
                     *         "payload": {
                     *           "source": "shop.orders",
                     *           "external_event_id": "order-4711",
                     *           "type": "purchase",
                     *           "identity": {}
                     *         },
                     *         "payloadState": "whole",
                     *         "status": "open",
                     *         "resolution": null,
                     *         "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "reason": "required",
                     *         "message": "identity.type is required.",
                     *         "source": "shop.orders",
                     *         "externalEventId": "order-4711",
                     *         "eventType": "purchase",
                     *         "occurrences": 1,
                     *         "firstSeenAt": "2026-01-02T03:04:05.000Z",
                     *         "lastSeenAt": "2026-01-02T03:04:05.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReplayedDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScopeOrSourceNotAllowed"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["EntryNotOpen"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    replayReviewEntries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filter": {
                 *         "reason": "unregistered_event_type"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BulkReplayDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["BulkReplayStartedDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getReviewReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "total": 1,
                     *       "done": 1,
                     *       "accepted": 1,
                     *       "duplicate": 1,
                     *       "failed": 1,
                     *       "filter": {
                     *         "reason": "unregistered_event_type"
                     *       },
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewReplayDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    cancelReviewReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "total": 1,
                     *       "done": 1,
                     *       "accepted": 1,
                     *       "duplicate": 1,
                     *       "failed": 1,
                     *       "filter": {
                     *         "reason": "unregistered_event_type"
                     *       },
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewReplayDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "eventDays": 365,
                     *       "changedAt": null,
                     *       "changedBy": null,
                     *       "expiredBefore": null
                     *     }
                     */
                    "application/json": components["schemas"]["RetentionDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    changeRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "eventDays": 365
                 *     }
                 */
                "application/json": components["schemas"]["ChangeRetentionDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "eventDays": 365,
                     *       "changedAt": null,
                     *       "changedBy": null,
                     *       "expiredBefore": null
                     *     }
                     */
                    "application/json": components["schemas"]["RetentionDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getIngestStatistics: {
        parameters: {
            query?: {
                /** @description From this time on; 24 hours before `to` when absent. */
                from?: string;
                /** @description Before this time; now when absent. The range has at most 1,440 steps. */
                to?: string;
                /** @description The length of a step; steps begin at full minutes, hours and days in UTC. */
                step?: "minute" | "hour" | "day";
                /** @description By what events are told apart; one group when absent. */
                groupBy?: "source" | "family" | "eventType";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "at": "2026-01-02T03:04:05.000Z",
                     *           "group": "shop.orders",
                     *           "accepted": 1,
                     *           "duplicate": 1,
                     *           "refused": 1,
                     *           "late": 1,
                     *           "clockSkewed": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["IngestStatisticsDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    defineReaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "count-purchases",
                 *       "eventType": "purchase",
                 *       "when": {
                 *         ">=": [
                 *           {
                 *             "var": "event.properties.amount"
                 *           },
                 *           20
                 *         ]
                 *       },
                 *       "ops": [
                 *         {
                 *           "path": "state.user.points",
                 *           "op": "inc",
                 *           "value": 10
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["DefineReactionDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "defined",
                     *       "warnings": [],
                     *       "reaction": {
                     *         "when": {
                     *           ">=": [
                     *             {
                     *               "var": "event.properties.amount"
                     *             },
                     *             20
                     *           ]
                     *         },
                     *         "ops": [
                     *           {
                     *             "path": "state.user.points",
                     *             "op": "inc",
                     *             "valueFrom": "properties.amount"
                     *           }
                     *         ],
                     *         "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "name": "points",
                     *         "eventType": "purchase",
                     *         "enabled": true,
                     *         "appliesFrom": "2026-01-02T03:04:05.000Z",
                     *         "createdAt": "2026-01-02T03:04:05.000Z",
                     *         "updatedAt": "2026-01-02T03:04:05.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DefinedReactionDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listReactions: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "when": {
                     *             ">=": [
                     *               {
                     *                 "var": "event.properties.amount"
                     *               },
                     *               20
                     *             ]
                     *           },
                     *           "ops": [
                     *             {
                     *               "path": "state.user.points",
                     *               "op": "inc",
                     *               "valueFrom": "properties.amount"
                     *             }
                     *           ],
                     *           "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "name": "points",
                     *           "eventType": "purchase",
                     *           "enabled": true,
                     *           "appliesFrom": "2026-01-02T03:04:05.000Z",
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "updatedAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ReactionPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getReaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example points */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "when": {
                     *         ">=": [
                     *           {
                     *             "var": "event.properties.amount"
                     *           },
                     *           20
                     *         ]
                     *       },
                     *       "ops": [
                     *         {
                     *           "path": "state.user.points",
                     *           "op": "inc",
                     *           "valueFrom": "properties.amount"
                     *         }
                     *       ],
                     *       "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "name": "points",
                     *       "eventType": "purchase",
                     *       "enabled": true,
                     *       "appliesFrom": "2026-01-02T03:04:05.000Z",
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReactionDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    deleteReaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example points */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "when": {
                     *         ">=": [
                     *           {
                     *             "var": "event.properties.amount"
                     *           },
                     *           20
                     *         ]
                     *       },
                     *       "ops": [
                     *         {
                     *           "path": "state.user.points",
                     *           "op": "inc",
                     *           "valueFrom": "properties.amount"
                     *         }
                     *       ],
                     *       "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "name": "points",
                     *       "eventType": "purchase",
                     *       "enabled": true,
                     *       "appliesFrom": "2026-01-02T03:04:05.000Z",
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReactionDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    startBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example points */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2026-01-01T00:00:00Z",
                 *       "to": "2026-02-01T00:00:00Z",
                 *       "eventsPerSecondMax": 500
                 *     }
                 */
                "application/json": components["schemas"]["StartBackfillDto"];
            };
        };
        responses: {
            /** @description Taken: stored and queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["BackfillStartedDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["ReactionDisabledOrBackfillRunning"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listBackfills: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example points */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "state": "queued",
                     *           "total": 100,
                     *           "scanned": 60,
                     *           "matched": 45,
                     *           "applied": 44,
                     *           "waiting": 1,
                     *           "skipped": 15,
                     *           "failed": 0,
                     *           "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "reaction": "count-purchases",
                     *           "from": "2026-01-02T03:04:05.000Z",
                     *           "to": "2026-01-02T03:04:05.000Z",
                     *           "dryRun": true,
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "startedAt": null,
                     *           "finishedAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["BackfillPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example points */
                name: string;
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "total": 100,
                     *       "scanned": 60,
                     *       "matched": 45,
                     *       "applied": 44,
                     *       "waiting": 1,
                     *       "skipped": 15,
                     *       "failed": 0,
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "reaction": "count-purchases",
                     *       "from": "2026-01-02T03:04:05.000Z",
                     *       "to": "2026-01-02T03:04:05.000Z",
                     *       "dryRun": true,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "startedAt": null,
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["BackfillDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    cancelBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
                /** @example points */
                name: string;
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "total": 100,
                     *       "scanned": 60,
                     *       "matched": 45,
                     *       "applied": 44,
                     *       "waiting": 1,
                     *       "skipped": 15,
                     *       "failed": 0,
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "campaignId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "reaction": "count-purchases",
                     *       "from": "2026-01-02T03:04:05.000Z",
                     *       "to": "2026-01-02T03:04:05.000Z",
                     *       "dryRun": true,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "startedAt": null,
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["BackfillDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    testReaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example spring-sale */
                campaign_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "count-purchases",
                 *       "last": 100
                 *     }
                 */
                "application/json": components["schemas"]["TestReactionDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "omitted": 1,
                     *       "items": [
                     *         {
                     *           "outcome": "applied",
                     *           "eventId": null,
                     *           "matched": true,
                     *           "why": {
                     *             "code": "no_condition",
                     *             "path": "when.and[1][\\>=\\]",
                     *             "message": "when.and[1][\\>=\\] does not hold; the event has no event.properties.amount."
                     *           },
                     *           "changes": [
                     *             {
                     *               "path": "state.user.points"
                     *             }
                     *           ],
                     *           "faults": [
                     *             {
                     *               "code": "required",
                     *               "path": "identity.type",
                     *               "message": "identity.type is required."
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RehearsalDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "events": [
                     *             {
                     *               "eventType": "purchase"
                     *             },
                     *             {
                     *               "change": {
                     *                 "scope": "user",
                     *                 "name": "points"
                     *               }
                     *             }
                     *           ],
                     *           "algorithm": "hmac-sha256",
                     *           "disabledReason": "manual",
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "url": "https://hooks.example.com/campaigns",
                     *           "description": "loyalty service",
                     *           "unmask": true,
                     *           "enabled": true,
                     *           "disabledAt": null,
                     *           "failingSince": null,
                     *           "previousSecretUntil": null,
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "updatedAt": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         {
                 *           "eventType": "purchase"
                 *         },
                 *         {
                 *           "change": {
                 *             "scope": "user",
                 *             "name": "points"
                 *           }
                 *         }
                 *       ],
                 *       "url": "https://hooks.example.com/campaigns",
                 *       "description": "loyalty service"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookDto"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "events": [
                     *           {
                     *             "eventType": "purchase"
                     *           },
                     *           {
                     *             "change": {
                     *               "scope": "user",
                     *               "name": "points"
                     *             }
                     *           }
                     *         ],
                     *         "algorithm": "hmac-sha256",
                     *         "disabledReason": "manual",
                     *         "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "url": "https://hooks.example.com/campaigns",
                     *         "description": "loyalty service",
                     *         "unmask": true,
                     *         "enabled": true,
                     *         "disabledAt": null,
                     *         "failingSince": null,
                     *         "previousSecretUntil": null,
                     *         "createdAt": "2026-01-02T03:04:05.000Z",
                     *         "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "updatedAt": "2026-01-02T03:04:05.000Z"
                     *       },
                     *       "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDVqAgZ/3dO+s="
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedWebhookDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "eventType": "purchase"
                     *         },
                     *         {
                     *           "change": {
                     *             "scope": "user",
                     *             "name": "points"
                     *           }
                     *         }
                     *       ],
                     *       "algorithm": "hmac-sha256",
                     *       "disabledReason": "manual",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "url": "https://hooks.example.com/campaigns",
                     *       "description": "loyalty service",
                     *       "unmask": true,
                     *       "enabled": true,
                     *       "disabledAt": null,
                     *       "failingSince": null,
                     *       "previousSecretUntil": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "eventType": "purchase"
                     *         },
                     *         {
                     *           "change": {
                     *             "scope": "user",
                     *             "name": "points"
                     *           }
                     *         }
                     *       ],
                     *       "algorithm": "hmac-sha256",
                     *       "disabledReason": "manual",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "url": "https://hooks.example.com/campaigns",
                     *       "description": "loyalty service",
                     *       "unmask": true,
                     *       "enabled": true,
                     *       "disabledAt": null,
                     *       "failingSince": null,
                     *       "previousSecretUntil": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         {
                 *           "eventType": "purchase"
                 *         },
                 *         {
                 *           "change": {
                 *             "scope": "user",
                 *             "name": "points"
                 *           }
                 *         }
                 *       ],
                 *       "url": "https://hooks.example.com/campaigns"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeWebhookDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "eventType": "purchase"
                     *         },
                     *         {
                     *           "change": {
                     *             "scope": "user",
                     *             "name": "points"
                     *           }
                     *         }
                     *       ],
                     *       "algorithm": "hmac-sha256",
                     *       "disabledReason": "manual",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "url": "https://hooks.example.com/campaigns",
                     *       "description": "loyalty service",
                     *       "unmask": true,
                     *       "enabled": true,
                     *       "disabledAt": null,
                     *       "failingSince": null,
                     *       "previousSecretUntil": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "events": [
                     *           {
                     *             "eventType": "purchase"
                     *           },
                     *           {
                     *             "change": {
                     *               "scope": "user",
                     *               "name": "points"
                     *             }
                     *           }
                     *         ],
                     *         "algorithm": "hmac-sha256",
                     *         "disabledReason": "manual",
                     *         "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "url": "https://hooks.example.com/campaigns",
                     *         "description": "loyalty service",
                     *         "unmask": true,
                     *         "enabled": true,
                     *         "disabledAt": null,
                     *         "failingSince": null,
                     *         "previousSecretUntil": null,
                     *         "createdAt": "2026-01-02T03:04:05.000Z",
                     *         "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "updatedAt": "2026-01-02T03:04:05.000Z"
                     *       },
                     *       "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDVqAgZ/3dO+s="
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedWebhookDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    enableWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "eventType": "purchase"
                     *         },
                     *         {
                     *           "change": {
                     *             "scope": "user",
                     *             "name": "points"
                     *           }
                     *         }
                     *       ],
                     *       "algorithm": "hmac-sha256",
                     *       "disabledReason": "manual",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "url": "https://hooks.example.com/campaigns",
                     *       "description": "loyalty service",
                     *       "unmask": true,
                     *       "enabled": true,
                     *       "disabledAt": null,
                     *       "failingSince": null,
                     *       "previousSecretUntil": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    disableWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "eventType": "purchase"
                     *         },
                     *         {
                     *           "change": {
                     *             "scope": "user",
                     *             "name": "points"
                     *           }
                     *         }
                     *       ],
                     *       "algorithm": "hmac-sha256",
                     *       "disabledReason": "manual",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "url": "https://hooks.example.com/campaigns",
                     *       "description": "loyalty service",
                     *       "unmask": true,
                     *       "enabled": true,
                     *       "disabledAt": null,
                     *       "failingSince": null,
                     *       "previousSecretUntil": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "updatedAt": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                /** @description What became of them. */
                state?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "kind": "event",
                     *           "state": "pending",
                     *           "reason": "attempts_used_up",
                     *           "attemptCount": 1,
                     *           "attempts": [
                     *             {
                     *               "outcome": "delivered",
                     *               "status": 204,
                     *               "answer": "",
                     *               "durationMs": 120,
                     *               "at": "2026-01-02T03:04:05.000Z"
                     *             }
                     *           ],
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "doneAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "event",
                     *       "state": "pending",
                     *       "reason": "attempts_used_up",
                     *       "attemptCount": 1,
                     *       "attempts": [
                     *         {
                     *           "outcome": "delivered",
                     *           "status": 204,
                     *           "answer": "",
                     *           "durationMs": 120,
                     *           "at": "2026-01-02T03:04:05.000Z"
                     *         }
                     *       ],
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "doneAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "outcome": "delivered",
                     *       "status": 204,
                     *       "answer": "",
                     *       "durationMs": 120,
                     *       "at": "2026-01-02T03:04:05.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AttemptDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    startWebhookReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2026-01-01T00:00:00Z",
                 *       "to": "2026-02-01T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["StartWebhookReplayDto"];
            };
        };
        responses: {
            /** @description Taken: stored and queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReplayStartedDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["ReplayRunning"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listWebhookReplays: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "state": "queued",
                     *           "total": 100,
                     *           "scanned": 60,
                     *           "queued": 44,
                     *           "alreadyQueued": 1,
                     *           "skipped": 15,
                     *           "failed": 0,
                     *           "expired": 0,
                     *           "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "webhookId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "from": "2026-01-02T03:04:05.000Z",
                     *           "to": "2026-01-02T03:04:05.000Z",
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "startedAt": null,
                     *           "finishedAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReplayPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getWebhookReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "total": 100,
                     *       "scanned": 60,
                     *       "queued": 44,
                     *       "alreadyQueued": 1,
                     *       "skipped": 15,
                     *       "failed": 0,
                     *       "expired": 0,
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "webhookId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "from": "2026-01-02T03:04:05.000Z",
                     *       "to": "2026-01-02T03:04:05.000Z",
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "startedAt": null,
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReplayDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    cancelWebhookReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued",
                     *       "total": 100,
                     *       "scanned": 60,
                     *       "queued": 44,
                     *       "alreadyQueued": 1,
                     *       "skipped": 15,
                     *       "failed": 0,
                     *       "expired": 0,
                     *       "jobId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "webhookId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "from": "2026-01-02T03:04:05.000Z",
                     *       "to": "2026-01-02T03:04:05.000Z",
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "startedAt": null,
                     *       "finishedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReplayDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                /** @description Only keys that are in this state now. */
                state?: "ACTIVE" | "EXPIRED" | "REVOKED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "scopes": [
                     *             "external-events:write"
                     *           ],
                     *           "state": "ACTIVE",
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "name": "web shop",
                     *           "hint": "cds_4fJ0…jyrI",
                     *           "sources": [
                     *             "shop.orders"
                     *           ],
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "expiresAt": "2026-04-02T03:04:05.000Z",
                     *           "lastUsedAt": null,
                     *           "revokedAt": null,
                     *           "rotatedFrom": null,
                     *           "rotatedTo": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "web shop",
                 *       "scopes": [
                 *         "cdp-events:write"
                 *       ],
                 *       "sources": [
                 *         "shop.orders"
                 *       ],
                 *       "expiresInDays": 30
                 *     }
                 */
                "application/json": components["schemas"]["CreateApiKeyDto"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apiKey": {
                     *         "scopes": [
                     *           "external-events:write"
                     *         ],
                     *         "state": "ACTIVE",
                     *         "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "name": "web shop",
                     *         "hint": "cds_4fJ0…jyrI",
                     *         "sources": [
                     *           "shop.orders"
                     *         ],
                     *         "createdAt": "2026-01-02T03:04:05.000Z",
                     *         "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "expiresAt": "2026-04-02T03:04:05.000Z",
                     *         "lastUsedAt": null,
                     *         "revokedAt": null,
                     *         "rotatedFrom": null,
                     *         "rotatedTo": null
                     *       },
                     *       "key": "cds_4fJ0t2b9QmZr7XcKpV3sLw8yNeHaUdG12wjyrI"
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedApiKeyDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScopeOrSourceNotAllowed"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "scopes": [
                     *         "external-events:write"
                     *       ],
                     *       "state": "ACTIVE",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "name": "web shop",
                     *       "hint": "cds_4fJ0…jyrI",
                     *       "sources": [
                     *         "shop.orders"
                     *       ],
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "expiresAt": "2026-04-02T03:04:05.000Z",
                     *       "lastUsedAt": null,
                     *       "revokedAt": null,
                     *       "rotatedFrom": null,
                     *       "rotatedTo": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listApiKeyAudit: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "action": "created",
                     *           "at": "2026-01-02T03:04:05.000Z",
                     *           "by": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "address": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyAuditPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apiKey": {
                     *         "scopes": [
                     *           "external-events:write"
                     *         ],
                     *         "state": "ACTIVE",
                     *         "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "name": "web shop",
                     *         "hint": "cds_4fJ0…jyrI",
                     *         "sources": [
                     *           "shop.orders"
                     *         ],
                     *         "createdAt": "2026-01-02T03:04:05.000Z",
                     *         "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "expiresAt": "2026-04-02T03:04:05.000Z",
                     *         "lastUsedAt": null,
                     *         "revokedAt": null,
                     *         "rotatedFrom": null,
                     *         "rotatedTo": null
                     *       },
                     *       "key": "cds_4fJ0t2b9QmZr7XcKpV3sLw8yNeHaUdG12wjyrI"
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedApiKeyDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScopeOrSourceNotAllowed"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["KeyRevoked"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "scopes": [
                     *         "external-events:write"
                     *       ],
                     *       "state": "ACTIVE",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "name": "web shop",
                     *       "hint": "cds_4fJ0…jyrI",
                     *       "sources": [
                     *         "shop.orders"
                     *       ],
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "expiresAt": "2026-04-02T03:04:05.000Z",
                     *       "lastUsedAt": null,
                     *       "revokedAt": null,
                     *       "rotatedFrom": null,
                     *       "rotatedTo": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listJwtIssuers: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "algorithms": [
                     *             "RS256"
                     *           ],
                     *           "keySource": "jwksUri",
                     *           "jwks": null,
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "issuer": "https://login.example.com/",
                     *           "audience": "campaigns",
                     *           "jwksUri": "https://login.example.com/.well-known/jwks.json",
                     *           "claims": {
                     *             "campaign": "campaign_id",
                     *             "app": "app_id"
                     *           },
                     *           "defaultCampaignId": null,
                     *           "allowedCampaignIds": null,
                     *           "clockToleranceSeconds": 5,
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["JwtIssuerPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    createJwtIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateJwtIssuerDto"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "algorithms": [
                     *         "RS256"
                     *       ],
                     *       "keySource": "jwksUri",
                     *       "jwks": null,
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "issuer": "https://login.example.com/",
                     *       "audience": "campaigns",
                     *       "jwksUri": "https://login.example.com/.well-known/jwks.json",
                     *       "claims": {
                     *         "campaign": "campaign_id",
                     *         "app": "app_id"
                     *       },
                     *       "defaultCampaignId": null,
                     *       "allowedCampaignIds": null,
                     *       "clockToleranceSeconds": 5,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["JwtIssuerDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IssuerTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getJwtIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "algorithms": [
                     *         "RS256"
                     *       ],
                     *       "keySource": "jwksUri",
                     *       "jwks": null,
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "issuer": "https://login.example.com/",
                     *       "audience": "campaigns",
                     *       "jwksUri": "https://login.example.com/.well-known/jwks.json",
                     *       "claims": {
                     *         "campaign": "campaign_id",
                     *         "app": "app_id"
                     *       },
                     *       "defaultCampaignId": null,
                     *       "allowedCampaignIds": null,
                     *       "clockToleranceSeconds": 5,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["JwtIssuerDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    changeJwtIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JwtIssuerSettingsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "algorithms": [
                     *         "RS256"
                     *       ],
                     *       "keySource": "jwksUri",
                     *       "jwks": null,
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "issuer": "https://login.example.com/",
                     *       "audience": "campaigns",
                     *       "jwksUri": "https://login.example.com/.well-known/jwks.json",
                     *       "claims": {
                     *         "campaign": "campaign_id",
                     *         "app": "app_id"
                     *       },
                     *       "defaultCampaignId": null,
                     *       "allowedCampaignIds": null,
                     *       "clockToleranceSeconds": 5,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["JwtIssuerDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    deleteJwtIssuer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "algorithms": [
                     *         "RS256"
                     *       ],
                     *       "keySource": "jwksUri",
                     *       "jwks": null,
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "issuer": "https://login.example.com/",
                     *       "audience": "campaigns",
                     *       "jwksUri": "https://login.example.com/.well-known/jwks.json",
                     *       "claims": {
                     *         "campaign": "campaign_id",
                     *         "app": "app_id"
                     *       },
                     *       "defaultCampaignId": null,
                     *       "allowedCampaignIds": null,
                     *       "clockToleranceSeconds": 5,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04"
                     *     }
                     */
                    "application/json": components["schemas"]["JwtIssuerDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
                /** @description Entries of this kind only. */
                kind?: "api_key" | "jwt_issuer" | "service_credential" | "webhook" | "retention" | "unmasked_read" | "erasure";
                /**
                 * @description Entries about this key, issuer, service credential or webhook; of a customer: the erasure, and who has read or
                 *     exported unmasked data, also before a merge.
                 */
                recordId?: string;
                /** @description Entries of this time or later. */
                from?: string;
                /** @description Entries before this time. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "kind": "api_key",
                     *           "action": "created",
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "at": "2026-01-02T03:04:05.000Z",
                     *           "recordId": null,
                     *           "detail": "warehouse",
                     *           "by": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "address": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AuditLogPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listServiceCredentials: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
                limit?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "algorithm": "ed25519",
                     *           "state": "ACTIVE",
                     *           "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "name": "web shop",
                     *           "publicKey": null,
                     *           "createdAt": "2026-01-02T03:04:05.000Z",
                     *           "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *           "lastUsedAt": null,
                     *           "revokedAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ServiceCredentialPageDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    createServiceCredential: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "publicKey": "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n-----END PUBLIC KEY-----\n",
                 *       "name": "web shop",
                 *       "algorithm": "ed25519"
                 *     }
                 */
                "application/json": components["schemas"]["CreateServiceCredentialDto"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "serviceCredential": {
                     *         "algorithm": "ed25519",
                     *         "state": "ACTIVE",
                     *         "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "name": "web shop",
                     *         "publicKey": null,
                     *         "createdAt": "2026-01-02T03:04:05.000Z",
                     *         "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *         "lastUsedAt": null,
                     *         "revokedAt": null
                     *       },
                     *       "secret": "hVnq7eJx0cWmB4rYtZ2uKsLd9pQ3oFgA1iXbNvE8RwM"
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedServiceCredentialDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScopeOrSourceNotAllowed"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getServiceCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "algorithm": "ed25519",
                     *       "state": "ACTIVE",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "name": "web shop",
                     *       "publicKey": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "lastUsedAt": null,
                     *       "revokedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ServiceCredentialDto"];
                };
            };
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
    revokeServiceCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NoFieldsDto"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "algorithm": "ed25519",
                     *       "state": "ACTIVE",
                     *       "id": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "name": "web shop",
                     *       "publicKey": null,
                     *       "createdAt": "2026-01-02T03:04:05.000Z",
                     *       "createdBy": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04",
                     *       "lastUsedAt": null,
                     *       "revokedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ServiceCredentialDto"];
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnauthenticatedOrInvalidApiKeyOrApiKeyExpiredOrApiKeyRevoked"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["OtherProblem"];
        };
    };
}
