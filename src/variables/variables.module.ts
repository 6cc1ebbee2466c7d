import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppVariable } from './entities/app-variable.entity';
import { Campaign } from './entities/campaign.entity';
import { Variable } from './entities/variable.entity';
import { DeclarationRules } from './declaration-rules';
import { CampaignReader } from './campaign-reader';
import { CampaignsController } from './campaigns.controller';
import { DeclarationStore } from './declaration-store';
import { LimitsCheck } from './limits-check';
import { LimitsConfirmation } from './limits-confirmation';
import { ReactionCounter } from './reaction-counter';
import { StoredValueCounter } from './stored-value-counter';
import { VariableRepository } from './variable.repository';
import { VariablesController } from './variables.controller';
import { VariablesService } from './variables.service';

@Module({
  imports: [TypeOrmModule.forFeature([Campaign, Variable, AppVariable])],
  controllers: [CampaignsController, VariablesController],
  providers: [
    VariablesService,
    VariableRepository,
    DeclarationRules,
    DeclarationStore,
    LimitsCheck,
    LimitsConfirmation,
    StoredValueCounter,
    CampaignReader,
    ReactionCounter,
  ],
  exports: [VariablesService, StoredValueCounter, ReactionCounter],
})
export class VariablesModule {}
