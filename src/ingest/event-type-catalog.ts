import { Injectable } from '@nestjs/common';

/** What the latest version of a registered event type says of the properties of its events. */
export interface CatalogedEventType {
  readonly version: number;
  readonly properties: readonly string[];
  /** Events may have further properties. */
  readonly allowsOthers: boolean;
}

/** Reads what is registered in a workspace now, also by other nodes a moment ago. */
export interface EventTypeSource {
  /** Undefined when it is not registered. */
  readonly find: (tenantId: string, eventType: string) => Promise<CatalogedEventType | undefined>;
  /** The names of the newest types, at most some thousand. */
  readonly names: (tenantId: string) => Promise<readonly string[]>;
}

/**
 * The registered event types (contract section 4), for features that must not import the one that registers them. That one sets
 * the source when the application starts.
 */
@Injectable()
export class EventTypeCatalog {
  private source: EventTypeSource | undefined;

  answerWith(source: EventTypeSource): void {
    this.source = source;
  }

  find(tenantId: string, eventType: string): Promise<CatalogedEventType | undefined> {
    return this.known().find(tenantId, eventType);
  }

  names(tenantId: string): Promise<readonly string[]> {
    return this.known().names(tenantId);
  }

  private known(): EventTypeSource {
    if (this.source === undefined) throw new Error('The source of event types is not set.');
    return this.source;
  }
}
