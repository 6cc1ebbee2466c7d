import { Command, InvalidArgumentError } from 'commander';
import { SignJWT } from 'jose';
import { JwtIssuersService } from '../jwt-issuers/jwt-issuers.service';
import { Clock } from '../platform/clock/clock';
import type { Console } from './console';
import { operatorOf } from './operator';
import { workspaceOption } from './workspace-option';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const SECONDS_MAX = 366 * 86_400;

interface TokenOptions {
  readonly workspace: string;
  readonly sub: string;
  readonly campaign?: string;
  readonly app?: string;
  readonly session?: string;
  readonly expiresIn: number;
}

export function tokensCommand(console: Console): Command {
  const tokens = new Command('tokens').description('JWTs of participants, for trying things out');
  tokens
    .command('mint')
    .description("Writes a JWT of the workspace's development issuer (made when it is not there)")
    .addOption(workspaceOption())
    .requiredOption('--sub <subject>', 'the participant: the EXTERNAL identifier of a customer')
    .option('--campaign <id>', 'the only campaign that it is for')
    .option('--app <id>', 'the app (default: default)')
    .option('--session <sid>', 'the session')
    .option('--expires-in <time>', 'such as 90s, 15m, 12h or 30d', seconds, SECONDS_OF['h'])
    .action((options: TokenOptions) => mint(console, options));
  return tokens;
}

async function mint({ within, out }: Console, options: TokenOptions): Promise<void> {
  const { workspace, sub, campaign, app, session, expiresIn } = options;
  const token = await within(async (parts) => {
    const operator = await operatorOf(parts, workspace);
    const { issuer, secret } = await parts.get(JwtIssuersService).developmentIssuer(operator, workspace);
    const issuedAt = Math.floor(parts.get(Clock).now().getTime() / 1000);
    const claims = { [issuer.campaignClaim]: campaign, [issuer.appClaim]: app, sid: session };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer.issuer)
      .setAudience(issuer.audience)
      .setSubject(sub)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + expiresIn)
      .sign(new TextEncoder().encode(secret));
  });
  out(token);
}

function seconds(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const value = Number(count) * (SECONDS_OF[unit || 's'] ?? Number.NaN);
  if (value >= 1 && value <= SECONDS_MAX) return value;
  throw new InvalidArgumentError('It must be a number with s, m, h or d behind it, from 1s to 366d.');
}
