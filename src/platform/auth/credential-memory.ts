import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/clock';
import { ControlFeed, type ControlKind } from '../control/control-feed';
import { ControlMemory } from '../control/control-memory';
import type { Principal } from './principal';

/** More credentials than one node sees in a minute; beyond it the least used ones are looked up again. */
const CREDENTIALS_MAX = 10_000;

/** Remembers whom a verified credential belongs to, by the credential's hash, until any node changes it. */
@Injectable()
export class CredentialMemory {
  private readonly memory: ControlMemory<Principal>;

  constructor(feed: ControlFeed, clock: Clock) {
    this.memory = new ControlMemory(feed, clock, CREDENTIALS_MAX);
  }

  /** Gives the principal of a credential, asking `verify` unless it is remembered. What `verify` throws is passed on. */
  async principalOf(credential: string, kind: ControlKind, verify: () => Promise<Principal>): Promise<Principal> {
    const key = hash('sha256', credential, 'base64');
    const remembered = this.memory.recall(key);
    if (remembered !== undefined) return remembered;
    return this.memory.learn(key, async () => {
      const principal = await verify();
      return { value: principal, subject: { tenantId: principal.tenantId, kind, id: principal.credentialId } };
    });
  }
}
