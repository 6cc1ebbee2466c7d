import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../api-keys/api-keys.service';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { Workspace } from './entities/workspace.entity';

/** A new workspace with its first key; the plaintext is for the operator's eyes, once. */
export interface FirstKey {
  readonly workspace: string;
  readonly key: string;
}

/** Operators make them by hand, so that there are fewer; a bound of memory all the same. */
const LISTED_MAX = 10_000;

/** Makes and finds workspaces, which have no routes: whoever runs the service says which there are. */
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

  /** Workspaces by their names, at most `LISTED_MAX`. */
  list(): Promise<Workspace[]> {
    return this.database.manager.find(Workspace, { order: { name: 'ASC' }, take: LISTED_MAX });
  }

  /** Makes a workspace with an admin key; undefined when it was there: its key was shown then. */
  create(name: string): Promise<FirstKey | undefined> {
    return this.database.transaction(async (manager) => {
      const tenantId = newId();
      const made = await manager
        .createQueryBuilder()
        .insert()
        .into(Workspace)
        .values({ tenantId, name, createdAt: this.clock.now() })
        .orIgnore()
        .returning('tenant_id')
        .execute();
      const rows: unknown = made.raw;
      if (!Array.isArray(rows) || rows.length === 0) return undefined;
      const { key } = await this.apiKeys.createFirst(manager, tenantId, { by: 'bootstrap', address: null });
      return { workspace: name, key };
    });
  }

  /** Makes a workspace without a key, unless it is there. */
  async ensure(name: string): Promise<Workspace> {
    const workspace = { tenantId: newId(), name, createdAt: this.clock.now() };
    await this.database.manager.createQueryBuilder().insert().into(Workspace).values(workspace).orIgnore().execute();
    return this.database.manager.findOneByOrFail(Workspace, { name });
  }
}
