import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomerReader } from './customer-reader';
import { ProfileIdentifier } from './entities/profile-identifier.entity';
import { ProfileMerge } from './entities/profile-merge.entity';
import { Profile } from './entities/profile.entity';
import { IdentityService } from './identity.service';
import { MergeRepository } from './merge.repository';
import { MergesService } from './merges.service';
import { ProfileRepository } from './profile.repository';

@Module({
  imports: [TypeOrmModule.forFeature([Profile, ProfileIdentifier, ProfileMerge])],
  providers: [IdentityService, CustomerReader, MergesService, MergeRepository, ProfileRepository],
  exports: [IdentityService, CustomerReader, MergesService],
})
export class IdentityModule {}
