import type { components, operations } from './schema.js';

type Schemas = components['schemas'];

/** An event of the external-events family. */
export type ExternalEvent = Schemas['ExternalEventDto'];
/** An event of the CDP family, whose type is registered. */
export type CdpEvent = Schemas['CdpEventDto'];
export type CampaignEvent = ExternalEvent | CdpEvent;

/** The event is stored and queued. */
export type Accepted = Schemas['AcceptedResultDto'];
/** The event was stored before; nothing was done. */
export type Duplicate = Schemas['DuplicateResultDto'];

/** The event was refused; the service keeps it in its review area. */
export interface Failed {
  readonly status: 'error';
  readonly error_code: Schemas['ErrorResultDto']['error_code'] | 'payload_too_large';
  readonly message: string;
  /** Every fault found. */
  readonly details: readonly Fault[];
}

/** The result of one event of a batch. */
export type EventResult = Accepted | Duplicate | Failed;

/** One thing that is wrong with what was sent. */
export type Fault = Schemas['FaultDto'];

/** One change of a variable, at `state.user.…`, `state.campaign.…` or `state.app.…`. */
export type Operation = Schemas['OperationDto'];
/** The values of all declared variables. */
export type StateTree = Schemas['StateTreeDto'];
export type MutationResult = operations['mutateState']['responses'][200]['content']['application/json'];
