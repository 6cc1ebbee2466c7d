import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppVariable } from './entities/app-variable.entity';
import { Campaign } from './entities/campaign.entity';
import { Variable } from './entities/variable.entity';
import { DeclarationRules } from './declaration-rules';
import { DeclarationStore } from './declaration-store';
import { LimitsCheck } from './limits-check';
import { LimitsConfirmation } from './limits-confirmation';
import { StoredValueCounter } from './stored-value-counter';
import { VariableRepository } from './variable.repository';
import { VariablesController } from './variables.controller';
import { VariablesService } from './variables.service';

@Module({
  imports: [TypeOrmModule.forFeature([Campaign, Variable, AppVariable])],
  controllers: [VariablesController],
  providers: [
    VariablesService,
    VariableRepository,
    DeclarationRules,
    DeclarationStore,
    LimitsCheck,
    LimitsConfirmation,
    StoredValueCounter,
  ],
  exports: [VariablesService, StoredValueCounter],
})
export class VariablesModule {}
