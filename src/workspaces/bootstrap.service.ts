import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../api-keys/api-keys.service';
import { hasWrongChecksum } from '../api-keys/domain/api-key-token';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { Workspace } from './entities/workspace.entity';
import { WorkspacesService, type FirstKey } from './workspaces.service';

const DEFAULT_WORKSPACE = 'default';

/** Makes sure that somebody can call a fresh service (contract section 2, bootstrap). Safe on any number of nodes at once. */
@Injectable()
export class BootstrapService {
  private readonly logger = new Logger(BootstrapService.name);

  constructor(
    private readonly database: DataSource,
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /** Answers the key of a workspace that was made without one from the environment; throws when that key is taken. */
  async run(): Promise<FirstKey | undefined> {
    const { bootstrapWorkspace, bootstrapAdminKey } = this.settings;
    const name = bootstrapWorkspace ?? DEFAULT_WORKSPACE;
    if (bootstrapAdminKey !== undefined) return this.adoptKey(name, bootstrapAdminKey);
    if (bootstrapWorkspace === undefined && (await this.database.manager.exists(Workspace))) return undefined;
    return this.workspaces.create(name);
  }

  private async adoptKey(name: string, key: string): Promise<undefined> {
    const unfit = unfitness(key);
    if (unfit !== undefined) throw new Error(`Bad settings: BOOTSTRAP_ADMIN_KEY must ${unfit}.`);
    const known = await this.workspaces.find(name);
    // Looked at before a workspace is made: a start that fails leaves nothing behind.
    if (await this.apiKeys.isTaken(known?.tenantId, key)) {
      throw new Error('Bad settings: BOOTSTRAP_ADMIN_KEY must not be a key that exists already; choose another value.');
    }
    const { tenantId } = known ?? (await this.workspaces.ensure(name));
    const replaced = await this.database.transaction(async (manager) => {
      // Two nodes that start with two values: the second one replaces the key of the first.
      await manager.findOneOrFail(Workspace, { where: { tenantId }, lock: { mode: 'pessimistic_write' } });
      return this.apiKeys.bootstrap(manager, tenantId, key);
    });
    if (replaced !== 'revoked') this.apiKeys.forget(tenantId, replaced);
    else this.logger.warn('BOOTSTRAP_ADMIN_KEY was revoked and stays so; choose another value.');
  }
}

/** What a key chosen by an operator must not look like, because the guard would take it for something else. */
function unfitness(key: string): string | undefined {
  if (key.startsWith('eyJ') && key.split('.').length === 3) return 'not look like a JWT';
  return hasWrongChecksum(key) ? 'not look like a key of this service with a typo' : undefined;
}
