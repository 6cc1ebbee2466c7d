import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuditActionOf } from '../platform/audit/audit-kinds';
import { AuditLog, type AuditActor } from '../platform/audit/audit-log';
import type { Principal } from '../platform/auth/principal';
import type { Webhook } from './webhook.repository';

/** Who changes an endpoint, and from which network address, if there is one. */
export type WebhookCaller = Principal & Pick<AuditActor, 'address'>;

/** Records who has done what to endpoints. */
@Injectable()
export class WebhookAudit implements OnModuleInit {
  constructor(private readonly log: AuditLog) {}

  onModuleInit(): void {
    this.log.registerNotes('webhook');
  }

  /** Names the endpoint without the path of its address, which may hold a secret of the receiver. */
  note(
    manager: EntityManager,
    { tenantId, credentialId: by, address }: WebhookCaller,
    action: AuditActionOf<'webhook'>,
    { endpoint }: Pick<Webhook, 'endpoint'>,
  ): Promise<void> {
    const { id: recordId, description, url } = endpoint;
    const name = description ?? new URL(url).origin;
    return this.log.note(manager, tenantId, { kind: 'webhook', action, recordId, name, by, address });
  }
}
