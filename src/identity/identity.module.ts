import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomerErasure } from './customer-erasure';
import { CustomerLocks } from './customer-locks';
import { CustomerReader } from './customer-reader';
import { CustomerSplits } from './customer-splits';
import { ErasedIdentifier } from './entities/erased-identifier.entity';
import { Erasure } from './entities/erasure.entity';
import { ProfileIdentifier } from './entities/profile-identifier.entity';
import { ProfileMerge } from './entities/profile-merge.entity';
import { Profile } from './entities/profile.entity';
import { UndoneMergeSide } from './entities/undone-merge-side.entity';
import { UnlinkedIdentifier } from './entities/unlinked-identifier.entity';
import { ErasedIdentifiers } from './erased-identifiers';
import { ErasedPersons } from './erased-persons';
import { IdentityService } from './identity.service';
import { MergeRepository } from './merge.repository';
import { MergesService } from './merges.service';
import { ProfileRepository } from './profile.repository';
import { RememberedProfiles } from './remembered-profiles';
import { UnlinkedIdentifiers } from './unlinked-identifiers';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      Profile,
      ProfileIdentifier,
      ProfileMerge,
      UndoneMergeSide,
      Erasure,
      ErasedIdentifier,
      UnlinkedIdentifier,
    ]),
  ],
  providers: [
    IdentityService,
    CustomerReader,
    CustomerErasure,
    CustomerLocks,
    CustomerSplits,
    ErasedIdentifiers,
    ErasedPersons,
    MergesService,
    MergeRepository,
    ProfileRepository,
    RememberedProfiles,
    UnlinkedIdentifiers,
  ],
  exports: [
    IdentityService,
    CustomerReader,
    CustomerErasure,
    CustomerSplits,
    ErasedPersons,
    MergesService,
    UnlinkedIdentifiers,
  ],
})
export class IdentityModule {}
