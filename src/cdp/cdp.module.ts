import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { EventFamilies } from '../ingest/event-families';
import { IngestModule } from '../ingest/ingest.module';
import { ReviewModule } from '../review/review.module';
import { CdpContract } from './cdp-contract';
import { CdpEventsController } from './cdp-events.controller';
import { ErasuresController } from './erasures.controller';
import { ErasuresService } from './erasures.service';
import { EventTypeVersion } from './entities/event-type-version.entity';
import { EventType } from './entities/event-type.entity';
import { EventTypeContracts } from './event-type-contracts';
import { EventTypeReader } from './event-type-reader';
import { EventTypeCheck } from './event-type-check';
import { EventTypeRepository } from './event-type.repository';
import { EventTypesController } from './event-types.controller';
import { EventTypesService } from './event-types.service';
import { MergesController } from './merges.controller';
import { PersonalDataController } from './personal-data.controller';
import { PersonalPropertyNames } from './personal-property-names';
import { Persons } from './persons';
import { ProfileExport } from './profile-export';
import { ProfilesController } from './profiles.controller';
import { ProfilesService } from './profiles.service';
import { RegisteredEventTypes } from './registered-event-types';

@Module({
  imports: [TypeOrmModule.forFeature([EventType, EventTypeVersion]), IngestModule, IdentityModule, ReviewModule],
  controllers: [
    ...[CdpEventsController, EventTypesController],
    ...[ProfilesController, MergesController, PersonalDataController, ErasuresController],
  ],
  providers: [
    ...[CdpContract, PersonalPropertyNames, RegisteredEventTypes],
    ...[EventTypesService, EventTypeReader, EventTypeCheck, EventTypeContracts, EventTypeRepository],
    ...[ProfilesService, ErasuresService, ProfileExport, Persons],
  ],
})
export class CdpModule {
  constructor(families: EventFamilies, contract: CdpContract) {
    families.add('cdp', (tenantId, sent) => contract.check(tenantId, sent));
  }
}
