import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { grants } from '../../platform/auth/scopes';
import { scopeMissing } from '../../platform/errors/challenges';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { isRefusal } from '../../platform/invalidation/negative-cache';
import { ConsoleSessions, type Session } from '../console-sessions';
import { sessionSecretOf } from '../session-cookie';
import { AuthenticateSession, CallingSession } from '../session.guard';
import { liveFilter, LiveQuery } from './dto/live.query';
import { STREAM_HEADERS, type LiveRights } from './live-viewer';
import { LiveViewers } from './live-viewers';

/** Events as they are answered (contract section 10), as server-sent events. */
@ApiExcludeController()
@Controller('console/api')
export class LiveController {
  constructor(
    private readonly viewers: LiveViewers,
    private readonly sessions: ConsoleSessions,
  ) {}

  /**
   * Streams the events of the session's workspace that the filter lets through: `events` with `{items, notShown}`, and `end`
   * with `{reason}` when the session ends, it cannot be checked, or the service stops. Needs `events:read`.
   */
  @Get('live')
  // Browsers open a stream again by themselves, without the header of a timer.
  @AuthenticateSession({ isUse: false })
  async streamEvents(
    @CallingSession() session: Session,
    @CheckedQuery() query: LiveQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const rights = liveRights(session);
    if (rights === undefined) throw scopeMissing('events:read');
    if (request.method === 'HEAD') {
      // Express takes it to this handler. A stream without a body would never end.
      response.writeHead(200, STREAM_HEADERS).end();
      return;
    }
    const { tenantId } = session;
    const secret = sessionSecretOf(request);
    const access = { tenantId, filter: liveFilter(query), rights: () => this.rightsOf(secret, session) };
    await this.viewers.open(access, rights, response);
  }

  /** Undefined when the session has ended. Watching prolongs no session. */
  private async rightsOf(secret: string | undefined, { id }: Session): Promise<LiveRights | undefined> {
    try {
      const session = secret === undefined ? undefined : await this.sessions.find(secret, { isUse: false });
      return session?.id === id ? liveRights(session) : undefined;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }
}

/** Undefined without `events:read`. */
function liveRights({ principal: { scopes } }: Session): LiveRights | undefined {
  return grants(scopes, 'events:read') ? { showsEntries: grants(scopes, 'review:read') } : undefined;
}
