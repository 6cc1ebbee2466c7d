import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { EventParsers } from '../ingest/parse/event-parsers';
import { IngestModule } from '../ingest/ingest.module';
import { ReviewModule } from '../review/review.module';
import { RuntimeModule } from '../runtime/runtime.module';
import { CdpEventParser } from './cdp-event-parser';
import { CdpEventsController } from './cdp-events.controller';
import { CampaignStatesController } from './customers/campaign-states.controller';
import { ErasuresController } from './customers/erasures.controller';
import { ErasuresService } from './customers/erasures.service';
import { EventTypeVersion } from './event-types/entities/event-type-version.entity';
import { EventType } from './event-types/entities/event-type.entity';
import { EventTypeContracts } from './event-types/event-type-contracts';
import { EventTypeReader } from './event-types/event-type-reader';
import { EventTypeCheck } from './event-types/event-type-check';
import { EventTypeInference } from './event-types/event-type-inference';
import { EventTypeRepository } from './event-types/event-type.repository';
import { EventTypesController } from './event-types/event-types.controller';
import { EventTypesService } from './event-types/event-types.service';
import { MergesController } from './customers/merges.controller';
import { IdentityLookupCheck } from './customers/identity-lookup-check';
import { PersonalDataController } from './customers/personal-data.controller';
import { PersonalPropertyNames } from './event-types/personal-property-names';
import { RecentEvents } from './event-types/recent-events';
import { Persons } from './customers/persons';
import { ProfileExport } from './customers/profile-export';
import { ProfilesController } from './customers/profiles.controller';
import { ProfilesService } from './customers/profiles.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([EventType, EventTypeVersion]),
    IngestModule,
    IdentityModule,
    ReviewModule,
    RuntimeModule,
  ],
  controllers: [
    CdpEventsController,
    EventTypesController,
    ProfilesController,
    CampaignStatesController,
    MergesController,
    PersonalDataController,
    ErasuresController,
  ],
  providers: [
    CdpEventParser,
    EventTypesService,
    EventTypeReader,
    EventTypeCheck,
    EventTypeInference,
    RecentEvents,
    EventTypeContracts,
    EventTypeRepository,
    PersonalPropertyNames,
    ProfilesService,
    IdentityLookupCheck,
    ErasuresService,
    ProfileExport,
    Persons,
  ],
})
export class CdpModule {
  constructor(parsers: EventParsers, cdp: CdpEventParser) {
    parsers.add('cdp', (tenantId, submission) => cdp.parse(tenantId, submission));
  }
}
