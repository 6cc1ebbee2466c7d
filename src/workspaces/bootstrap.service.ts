import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../api-keys/api-keys.service';
import { hasWrongChecksum } from '../api-keys/domain/api-key-token';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { Workspace } from './entities/workspace.entity';
import { WorkspacesService, type FirstKey } from './workspaces.service';

const DEFAULT_WORKSPACE = 'default';

/** Creates the first workspace and its admin key (contract section 2, bootstrap). Safe on any number of nodes at once. */
@Injectable()
export class BootstrapService {
  private readonly logger = new Logger(BootstrapService.name);

  constructor(
    private readonly database: DataSource,
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /** Returns the generated key of a new workspace, if any. Throws when the key from the environment cannot be used. */
  async run(): Promise<FirstKey | undefined> {
    const { bootstrapWorkspace, bootstrapAdminKey } = this.settings;
    const name = bootstrapWorkspace ?? DEFAULT_WORKSPACE;
    if (bootstrapAdminKey !== undefined) return this.adoptKey(name, bootstrapAdminKey);
    if (bootstrapWorkspace === undefined && (await this.database.manager.exists(Workspace))) return undefined;
    return this.workspaces.create(name);
  }

  private async adoptKey(name: string, key: string): Promise<undefined> {
    const requirement = violatedRequirement(key);
    if (requirement !== undefined) throw new Error(`Bad settings: BOOTSTRAP_ADMIN_KEY must ${requirement}.`);
    const known = await this.workspaces.find(name);
    // Checked before a workspace is created: a failed start leaves nothing behind.
    if (await this.apiKeys.isTaken(known?.tenantId, key)) {
      throw new Error('Bad settings: BOOTSTRAP_ADMIN_KEY must not be a key that exists already; choose another value.');
    }
    const { tenantId } = known ?? (await this.workspaces.ensure(name));
    const replaced = await this.database.transaction(async (manager) => {
      // When two nodes start with different values, the second replaces the key of the first.
      await manager.findOneOrFail(Workspace, { where: { tenantId }, lock: { mode: 'pessimistic_write' } });
      return this.apiKeys.bootstrap(manager, tenantId, key);
    });
    if (replaced !== 'revoked') this.apiKeys.forget(tenantId, replaced);
    else this.logger.warn('BOOTSTRAP_ADMIN_KEY was revoked and stays so; choose another value.');
  }
}

/** The requirement that a key chosen by an operator violates. The guard would take it for another kind of credential. */
function violatedRequirement(key: string): string | undefined {
  if (key.startsWith('eyJ') && key.split('.').length === 3) return 'not look like a JWT';
  return hasWrongChecksum(key) ? 'not look like a key of this service with a typo' : undefined;
}
