import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeysModule } from '../api-keys/api-keys.module';
import { AuditLogController } from './audit-log.controller';
import { BootstrapService } from './bootstrap.service';
import { Workspace } from './entities/workspace.entity';
import { WorkspacesService } from './workspaces.service';

@Module({
  imports: [TypeOrmModule.forFeature([Workspace]), ApiKeysModule],
  controllers: [AuditLogController],
  providers: [BootstrapService, WorkspacesService],
  exports: [BootstrapService, WorkspacesService],
})
export class WorkspacesModule {}
