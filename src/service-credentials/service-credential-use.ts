import { Injectable } from '@nestjs/common';
import { LastUse } from '../platform/auth/last-use';
import { Clock } from '../platform/values/clock';
import { ServiceCredentialRepository } from './service-credential.repository';

/** Keeps `lastUsedAt` of service credentials. */
@Injectable()
export class ServiceCredentialUse extends LastUse {
  constructor(clock: Clock, credentials: ServiceCredentialRepository) {
    super(clock, (tenantId, id, at) => credentials.storeUse(tenantId, id, at));
  }
}
