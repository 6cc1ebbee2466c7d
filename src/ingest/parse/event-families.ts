import { Injectable } from '@nestjs/common';
import type { CheckedEvent, EventFamily, SentEvent } from '../domain/incoming-event';

/** How a family checks one event of a workspace. */
export type CheckForTenant = (tenantId: string, sent: SentEvent) => CheckedEvent | Promise<CheckedEvent>;

/** Where each ingest family says how its events are checked, for whoever has one to check without knowing the families. */
@Injectable()
export class EventFamilies {
  private readonly checks = new Map<string, CheckForTenant>();

  add(family: EventFamily, check: CheckForTenant): void {
    this.checks.set(family, check);
  }

  async check(family: string, tenantId: string, sent: SentEvent): Promise<CheckedEvent> {
    const check = this.checks.get(family);
    if (check === undefined) throw new Error('An event is of a family that nobody has added');
    return check(tenantId, sent);
  }
}
