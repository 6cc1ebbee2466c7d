import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { EventFamilies } from '../ingest/event-families';
import { IngestModule } from '../ingest/ingest.module';
import { ReviewModule } from '../review/review.module';
import { CdpContract } from './cdp-contract';
import { CdpEventsController } from './cdp-events.controller';
import { EventTypeVersion } from './entities/event-type-version.entity';
import { EventType } from './entities/event-type.entity';
import { EventTypeRepository } from './event-type.repository';
import { EventTypesController } from './event-types.controller';
import { EventTypesService } from './event-types.service';
import { PersonalPropertyNames } from './personal-property-names';

@Module({
  imports: [TypeOrmModule.forFeature([EventType, EventTypeVersion]), IngestModule, IdentityModule, ReviewModule],
  controllers: [CdpEventsController, EventTypesController],
  providers: [CdpContract, EventTypesService, EventTypeRepository, PersonalPropertyNames],
})
export class CdpModule {
  constructor(families: EventFamilies, contract: CdpContract) {
    families.add('cdp', (tenantId, sent) => contract.check(tenantId, sent));
  }
}
