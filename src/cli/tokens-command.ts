import { Command, InvalidArgumentError } from 'commander';
import { SignJWT } from 'jose';
import { hasMoreCharacters, isStorable, trimBlank } from '../platform/values/text/text-rules';
import { PATH_NAME, PATH_NAME_FORM } from '../platform/values/text/path-name';
import { SUBJECT_CHARACTERS_MAX } from '../runtime/domain/state-owner';
import { secondsUpTo, type Console } from './console';
import { operatorOf, workspaceHint, workspaceOption } from './workspace-scope';

const SECONDS_DEFAULT = 3_600;
const DAYS_MAX = 366;

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
    .requiredOption('--sub <subject>', 'the participant: the EXTERNAL identifier of a customer', personName)
    .option('--campaign <id>', 'the only campaign that it is for', pathName)
    .option('--app <id>', 'the app (default: default)', pathName)
    .option('--session <sid>', 'the session', personName)
    .option('--expires-in <time>', 'such as 90s, 15m, 12h or 30d', secondsUpTo(DAYS_MAX), SECONDS_DEFAULT)
    .action((options: TokenOptions) => mint(console, options));
  return tokens;
}

async function mint({ within, out, say }: Console, options: TokenOptions): Promise<void> {
  const { workspace, sub, campaign, app, session, expiresIn } = options;
  const { Clock } = await import('../platform/values/clock.js');
  const { JwtIssuersService } = await import('../jwt-issuers/jwt-issuers.service.js');
  const { token, isFirst } = await within(async (parts) => {
    const operator = await operatorOf(parts, workspace);
    const issuers = parts.get(JwtIssuersService);
    const { issuer, secret } = await issuers.developmentIssuer(operator, workspace);
    const issuedAt = Math.floor(parts.get(Clock).now().getTime() / 1000);
    const claims = { [issuer.campaignClaim]: campaign, [issuer.appClaim]: app, sid: session };
    const signed = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer.issuer)
      .setAudience(issuer.audience)
      .setSubject(sub)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + expiresIn)
      .sign(new TextEncoder().encode(secret));
    return { token: signed, isFirst: await issuers.isFirst(issuer) };
  });
  if (!isFirst) say(workspaceHint(workspace));
  out(token);
}

/** What the service would refuse is not signed. */
function personName(text: string): string {
  const name = trimBlank(text);
  if (name === '') throw new InvalidArgumentError('It is empty. Name the participant or session.');
  if (isStorable(name) && !hasMoreCharacters(name, SUBJECT_CHARACTERS_MAX)) return text;
  throw new InvalidArgumentError(`It must have 1 to ${SUBJECT_CHARACTERS_MAX} characters, none of them U+0000.`);
}

function pathName(text: string): string {
  if (PATH_NAME.test(text)) return text;
  throw new InvalidArgumentError(`The name ${PATH_NAME_FORM}.`);
}
