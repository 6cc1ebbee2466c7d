import { Injectable, type OnModuleInit } from '@nestjs/common';
import { EventTypeCatalog, type CatalogedEventType } from '../../ingest/event-type-catalog';
import { EventTypeRepository } from './event-type.repository';

/** Names are for suggestions: of a workspace with more types, the newest are enough. */
const NAMES_MAX = 1_000;

/** Answers other features what is registered, from the database and not from memory: they ask when somebody waits for advice. */
@Injectable()
export class RegisteredEventTypes implements OnModuleInit {
  constructor(
    private readonly types: EventTypeRepository,
    private readonly catalog: EventTypeCatalog,
  ) {}

  onModuleInit(): void {
    this.catalog.answerWith({
      find: (tenantId, eventType) => this.find(tenantId, eventType),
      names: (tenantId) => this.types.newestNames(tenantId, NAMES_MAX),
    });
  }

  private async find(tenantId: string, eventType: string): Promise<CatalogedEventType | undefined> {
    const latest = await this.types.latest(tenantId, eventType);
    if (latest === null) return undefined;
    const { version, definition } = latest;
    return {
      version,
      properties: Object.keys(definition.properties),
      allowsOthers: definition.additionalProperties === 'allow',
    };
  }
}
