import { Injectable } from '@nestjs/common';

/** What the latest version of a registered event type says of the properties of its events. */
export interface CatalogedEventType {
  readonly version: number;
  readonly properties: readonly string[];
  /** Events may have further properties. */
  readonly allowsOthers: boolean;
}

/** Answers what is registered in a workspace now, with what other nodes registered a moment ago. */
export interface EventTypeSource {
  /** Undefined: it is not registered. */
  readonly find: (tenantId: string, eventType: string) => Promise<CatalogedEventType | undefined>;
  /** The names of the newest types, at most some thousand. */
  readonly names: (tenantId: string) => Promise<readonly string[]>;
}

/**
 * Where features that must not know the one that registers event types ask for what is registered (contract section 4); it says
 * so at start.
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
    if (this.source === undefined) throw new Error('Event types are asked for before anybody knows them');
    return this.source;
  }
}
