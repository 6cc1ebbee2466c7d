import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SecretBox } from '../../platform/secrets/secret-box';
import { Clock } from '../../platform/values/clock';
import { NIL_UUID } from '../../platform/values/uuid';
import { cookiesNamed, isPlainLoopback } from '../session-cookie';
import type { SignInSecrets } from './oidc-provider';

/** Time to sign in at the provider. */
const FLOW_SECONDS = 600;
const LOCAL_NAME = 'cds_console_sign_in';
const SECURE_NAME = '__Secure-cds_console_sign_in';
/** Lax: the browser comes back from the provider, another site. */
const ATTRIBUTES = 'Path=/console/api/oidc; HttpOnly; SameSite=Lax';
const SEALED_FOR = 'console sign-in';

/** A sign-in that was begun in a browser. */
export interface SignInFlow extends SignInSecrets {
  readonly redirectUri: string;
  /** The person was sent to show again who they are. */
  readonly isProof: boolean;
  readonly workspace: string | undefined;
  /** The page of the console to go to, below `/console/`. */
  readonly page: string;
  /** The session of the browser, which ends when there is a new one. */
  readonly former: { readonly tenantId: string; readonly id: string } | undefined;
}

/**
 * Keeps a sign-in in a sealed cookie of its browser, for the way to the provider and back: any node can finish it, and no
 * other browser can.
 */
@Injectable()
export class SignInFlows {
  constructor(
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** A later sign-in in the same browser replaces it. */
  keep(request: Request, response: Response, flow: SignInFlow): void {
    const text = JSON.stringify({ flow, endsAt: this.clock.now().getTime() + FLOW_SECONDS * 1_000 });
    const sealed = this.box.seal(text, NIL_UUID, SEALED_FOR).toString('base64url');
    this.set(request, response, sealed, FLOW_SECONDS);
  }

  /**
   * The sign-in of this browser that was begun with this state, which can be used once; undefined when there is none, or it has
   * taken too long. One with another state stays: another tab has begun it since.
   */
  take(request: Request, response: Response, state: string | null): SignInFlow | undefined {
    const flow = this.kept(request);
    if (flow?.state !== state) return undefined;
    this.set(request, response, '', 0);
    return flow;
  }

  private kept(request: Request): SignInFlow | undefined {
    const [sealed, ...others] = cookiesNamed(nameFor(request), request);
    if (sealed === undefined || others.length > 0) return undefined;
    try {
      const text = this.box.open(Buffer.from(sealed, 'base64url'), NIL_UUID, SEALED_FOR);
      const { flow, endsAt } = JSON.parse(text) as { flow: SignInFlow; endsAt: number };
      return endsAt > this.clock.now().getTime() ? flow : undefined;
    } catch {
      return undefined;
    }
  }

  private set(request: Request, response: Response, value: string, seconds: number): void {
    const secure = isPlainLoopback(request) ? '' : '; Secure';
    response.append('Set-Cookie', `${nameFor(request)}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}${secure}`);
  }
}

function nameFor(request: Request): string {
  return isPlainLoopback(request) ? LOCAL_NAME : SECURE_NAME;
}
