import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { Unauthenticated } from '../auth/authenticate.decorator';
import { MayRefuse } from '../http/openapi/may-refuse.decorator';
import { DomainError } from '../errors/domain-error';
import { HealthDto } from './dto/health.dto';
import { Readiness, type ReadyState } from './readiness';

const WORDS: Readonly<Record<Exclude<ReadyState, 'ready'>, string>> = {
  stopping: 'The process is stopping. Send requests to another one.',
  database_away:
    'The database does not answer, or takes no connection. Check that PostgreSQL runs, that DATABASE_URL is right, and that max_connections are not used up.',
  database_read_only:
    'The database takes no writes. After a failover, check that DATABASE_URL leads to the new primary.',
  migrations_pending:
    'Migrations of the database are pending. Run npm run migrate, or start with MIGRATE_ON_START=true.',
  clock_off:
    "The clock of this machine is over five minutes away from the database's. Correct the wrong clock, and run a time service (NTP) on both machines.",
};

/** For load balancers and supervisors (contract section 9). */
@ApiTags('Operation')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly readiness: Readiness,
  ) {}

  /** Answers 200 while the process runs. It does not check the database, so that an outage there restarts no process. */
  @Get('live')
  @Unauthenticated('Supervisors have no credential, and the answer contains no data.')
  @ApiOkResponse({ type: HealthDto })
  checkLiveness(): HealthDto {
    return { status: 'ok' };
  }

  /** Answers 200 while the process can serve; 503 while it stops, or the database is away, read-only, not migrated or minutes off. */
  @Get('ready')
  @MayRefuse('unavailable')
  @Unauthenticated('Load balancers have no credential; the answer says no more than that requests would be refused.')
  @ApiOkResponse({ type: HealthDto })
  async checkReadiness(): Promise<HealthDto> {
    const state = await this.readiness.state();
    const check = this.indicators.check('service');
    try {
      await this.health.check([() => (state === 'ready' ? check.up() : check.down())]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException) || state === 'ready') throw error;
      throw new DomainError('unavailable', WORDS[state]);
    }
    return { status: 'ok' };
  }
}
