import { Injectable } from '@nestjs/common';
import { LastUse } from '../platform/auth/last-use';
import { Clock } from '../platform/values/clock';
import { ApiKeyRepository } from './api-key.repository';

/** Keeps `lastUsedAt` of API keys. */
@Injectable()
export class ApiKeyUse extends LastUse {
  constructor(clock: Clock, keys: ApiKeyRepository) {
    super(clock, (tenantId, id, at) => keys.storeUse(tenantId, id, at));
  }
}
