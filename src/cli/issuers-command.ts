import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Console } from './console';
import { readFailure } from './file-failures';
import { ClientFailure } from './running-service';
import { operatorOf, workspaceHint, workspaceOption } from './workspace-scope';

interface IssuerOptions {
  readonly workspace: string;
  readonly development?: true;
  readonly issuer?: string;
  readonly audience?: string;
  readonly algorithm?: string[];
  readonly jwksUri?: string;
  readonly jwksFile?: string;
  readonly secretFile?: string;
  readonly campaignClaim?: string;
  readonly appClaim?: string;
  readonly defaultCampaign?: string;
  readonly allowCampaign?: string[];
  readonly clockTolerance?: number;
}

const FILE = 'PATH, or - for standard input';

export function issuersCommand(console: Console): Command {
  const issuers = new Command('issuers').description('Issuers of the JWTs that participants call with');
  const others = ['issuer', 'audience', 'algorithm', 'jwksUri', 'jwksFile', 'secretFile'];
  const development = new Option('--development', 'the issuer whose tokens `tokens mint` makes; needs nothing else');
  issuers
    .command('create')
    .description('Registers an issuer and writes its record')
    .addOption(workspaceOption())
    .addOption(development.conflicts(others))
    .option('--issuer <iss>', 'the `iss` of its tokens')
    .option('--audience <aud>', 'the `aud` of its tokens')
    .option('--algorithm <alg...>', 'RS256, PS256, ES256 (default: all three), or HS256 with a secret')
    .option('--jwks-uri <url>', 'where its public keys are')
    .option('--jwks-file <path>', `its public keys as JSON: ${FILE}`)
    .option('--secret-file <path>', `the secret shared with it: ${FILE}`)
    .option('--campaign-claim <name>', 'the claim that names the campaign (default: campaign_id)')
    .option('--app-claim <name>', 'the claim that names the app (default: app_id)')
    .option('--default-campaign <id>', 'the campaign of requests that name none')
    .option('--allow-campaign <id...>', 'the only campaigns that its tokens may name')
    .option('--clock-tolerance <seconds>', 'how far its clock may be off (default: 5)', secondsOf)
    .action((options: IssuerOptions) => create(console, options));
  return issuers;
}

async function create({ within, out, say }: Console, options: IssuerOptions): Promise<void> {
  const { workspace } = options;
  const body = options.development === true ? undefined : await bodyOf(options);
  const { JwtIssuerDto } = await import('../jwt-issuers/dto/jwt-issuer.dto.js');
  const { JwtIssuersService } = await import('../jwt-issuers/jwt-issuers.service.js');
  const { issuer, isFirst } = await within(async (parts) => {
    const operator = await operatorOf(parts, workspace);
    const issuers = parts.get(JwtIssuersService);
    const made =
      body === undefined
        ? (await issuers.developmentIssuer(operator, workspace)).issuer
        : await issuers.create(operator, body, null);
    return { issuer: made, isFirst: await issuers.isFirst(made) };
  });
  if (!isFirst) say(workspaceHint(workspace));
  out(JSON.stringify(JwtIssuerDto.of(issuer), null, 2));
}

/** The service would name fields of a body, which are no options. */
const WITHOUT_KEYS = new ClientFailure(
  'Say where the keys of the issuer come from, with --jwks-uri, --jwks-file or --secret-file. For trials: --development.',
  2,
);

/** The body that `POST /v1/jwt-issuers` takes; the service checks it in the same way. */
async function bodyOf(options: IssuerOptions): Promise<Record<string, unknown>> {
  const { jwksUri, jwksFile, secretFile, campaignClaim, appClaim, clockTolerance } = options;
  if (jwksUri === undefined && jwksFile === undefined && secretFile === undefined) throw WITHOUT_KEYS;
  const claims = { campaign: campaignClaim, app: appClaim };
  return {
    issuer: options.issuer,
    audience: options.audience,
    algorithms: options.algorithm,
    jwksUri,
    jwks: jwksFile === undefined ? undefined : parseKeys(await contentOf(jwksFile)),
    secret: secretFile === undefined ? undefined : (await contentOf(secretFile)).replace(/\r?\n$/, ''),
    claims: campaignClaim === undefined && appClaim === undefined ? undefined : claims,
    defaultCampaignId: options.defaultCampaign,
    allowedCampaignIds: options.allowCampaign,
    clockToleranceSeconds: clockTolerance,
  };
}

/** The service checks how many it may be. */
function secondsOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

async function contentOf(path: string): Promise<string> {
  if (path === '-') return text(process.stdin);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw readFailure(path, error, 2);
  }
}

function parseKeys(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    throw new Error('The file of --jwks-file holds no JSON.');
  }
}
