import { Injectable } from '@nestjs/common';
import { EventSample } from '../ingest/log/event-sample';
import { EventTypeCatalog } from '../ingest/event-type-catalog';
import type { ReactionDefinition } from './domain/reaction';
import { reactionWarnings, type EventTypeFacts, type ReactionWarning } from './domain/reaction-warnings';

/** Tells whoever defines a reaction what of it will never do anything (contract section 8, docs/adr/0054). */
@Injectable()
export class ReactionAdvice {
  constructor(
    private readonly catalog: EventTypeCatalog,
    private readonly sample: EventSample,
  ) {}

  /** By what is registered and received now; bounded in what is read, and never a reason to refuse. */
  async warningsFor(tenantId: string, definition: ReactionDefinition): Promise<readonly ReactionWarning[]> {
    return reactionWarnings(definition, await this.factsOf(tenantId, definition.eventType));
  }

  private async factsOf(tenantId: string, eventType: string): Promise<EventTypeFacts> {
    const registered = await this.catalog.find(tenantId, eventType);
    if (registered !== undefined) return { registered };
    const wasReceived = await this.sample.hasAny(tenantId, eventType);
    return { registered, wasReceived, names: wasReceived ? [] : await this.catalog.names(tenantId) };
  }
}
