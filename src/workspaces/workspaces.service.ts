import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../api-keys/api-keys.service';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { Workspace } from './entities/workspace.entity';

/** A new workspace with the plaintext of its first key, which is shown to the operator once. */
export interface FirstKey {
  readonly workspace: string;
  readonly key: string;
}

/** Bounds memory. Operators create workspaces by hand, so there are fewer. */
const LISTED_MAX = 10_000;

/** Creates and finds workspaces. They have no routes: operators create them by settings or the command-line tool. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly database: DataSource,
    private readonly apiKeys: ApiKeysService,
    private readonly clock: Clock,
  ) {}

  find(name: string): Promise<Workspace | null> {
    return this.database.manager.findOneBy(Workspace, { name });
  }

  /** The name of a workspace; undefined when there is none. */
  async nameOf(tenantId: string): Promise<string | undefined> {
    return (await this.database.manager.findOneBy(Workspace, { tenantId }))?.name;
  }

  /** Workspaces in the order of their names, at most `LISTED_MAX`. */
  list(): Promise<Workspace[]> {
    return this.database.manager.find(Workspace, { order: { name: 'ASC' }, take: LISTED_MAX });
  }

  /** Creates a workspace with an admin key. Undefined when the workspace exists: its key was shown then. */
  create(name: string): Promise<FirstKey | undefined> {
    return this.database.transaction(async (manager) => {
      const tenantId = newId();
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(Workspace)
        .values({ tenantId, name, createdAt: this.clock.now() })
        .orIgnore()
        .returning('tenant_id')
        .execute();
      const rows: unknown = inserted.raw;
      if (!Array.isArray(rows) || rows.length === 0) return undefined;
      const { key } = await this.apiKeys.createFirst(manager, tenantId, { by: 'bootstrap', address: null });
      return { workspace: name, key };
    });
  }

  /** Creates a workspace without a key, unless it exists. */
  async ensure(name: string): Promise<Workspace> {
    const workspace = { tenantId: newId(), name, createdAt: this.clock.now() };
    await this.database.manager.createQueryBuilder().insert().into(Workspace).values(workspace).orIgnore().execute();
    return this.database.manager.findOneByOrFail(Workspace, { name });
  }
}
