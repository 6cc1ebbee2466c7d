import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppVariable } from './entities/app-variable.entity';
import { Campaign } from './entities/campaign.entity';
import { Variable } from './entities/variable.entity';
import { VariableRepository } from './variable.repository';
import { VariablesController } from './variables.controller';
import { VariablesService } from './variables.service';

@Module({
  imports: [TypeOrmModule.forFeature([Campaign, Variable, AppVariable])],
  controllers: [VariablesController],
  providers: [VariablesService, VariableRepository],
  exports: [VariablesService],
})
export class VariablesModule {}
