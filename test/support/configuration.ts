import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cliProgram } from '../../src/cli/program';
import { ClientFailure } from '../../src/cli/running-service';
import { startApp, type TestApp } from './app';
import { Client } from './client';
import { aTenant } from './tenant';

const JWKS = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      kid: '1',
      x: 'WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis',
      y: 'y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE',
    },
  ],
};

/** The configuration of every kind, with names that a file has to quote. */
export const EVERYTHING = `
version: 1
eventTypes:
  - eventType: purchase
    description: "A customer bought something: yes"
    properties:
      amount: { type: number, required: true }
      channel: { type: string, enum: [web, "no", "1"] }
      "odd key": { type: boolean, pii: true }
  - eventType: old
    properties: {}
    additionalProperties: allow
    deprecated: true
variables:
  - { campaignId: spring, scope: user, name: points, type: number, default: 0, min: 0, max: 1000 }
  - { campaignId: spring, scope: user, name: today, type: number, period: { every: day, timezone: Europe/Berlin } }
  - { campaignId: summer, scope: app, name: title, type: string, default: "on", description: shown above }
reactions:
  - campaignId: spring
    name: count
    eventType: purchase
    source: shop
    when: { ">=": [{ var: event.properties.amount }, 20] }
    ops: [{ path: state.user.points, op: inc, value: 10, onLimit: clamp }]
  - campaignId: spring
    name: off
    eventType: purchase
    ops: [{ path: state.user.today, op: inc, valueFrom: properties.amount }]
    enabled: false
webhooks:
  - url: https://hooks.example.com/one
    description: loyalty
    events: [{ eventType: purchase, source: shop }, { change: { scope: user, name: points, campaignId: spring } }]
  - url: https://hooks.example.com/one
    events: [{ eventType: signup }]
    algorithm: ed25519
    enabled: false
    unmask: true
issuers:
  - issuer: https://login.example.com/
    audience: campaigns
    jwksUri: https://login.example.com/.well-known/jwks.json
    algorithms: [ES256]
    claims: { app: azp }
    allowedCampaignIds: [spring, summer]
  - issuer: https://other.example.com/
    audience: campaigns
    jwks: ${JSON.stringify(JWKS)}
    clockToleranceSeconds: 9
retention:
  eventDays: 400
`;

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

export interface ConfiguredWorkspace {
  readonly name: string;
  readonly tenantId: string;
  readonly client: Client;
  /** Runs a command of configuration; `text` is the content of its file. */
  run(
    command: 'export' | 'plan' | 'apply',
    text?: string | null,
    ...further: readonly string[]
  ): Promise<CommandResult>;
}

/** A service with the commands of configuration in its process, and a folder for their files. */
export class ConfiguredService {
  private files = 0;

  private constructor(
    readonly service: TestApp,
    readonly folder: string,
  ) {}

  static async start(): Promise<ConfiguredService> {
    return new ConfiguredService(await startApp(), await mkdtemp(join(tmpdir(), 'cds-configuration-')));
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await rm(this.folder, { recursive: true });
  }

  /** The path of a file with this content. */
  async file(text: string): Promise<string> {
    const path = join(this.folder, `${(this.files += 1)}.yaml`);
    await writeFile(path, text);
    return path;
  }

  async workspace(): Promise<ConfiguredWorkspace> {
    const { name, tenantId, adminKey } = await aTenant(this.service.databaseUrl);
    const run: ConfiguredWorkspace['run'] = async (command, text = null, ...further) => {
      const args = text === null ? [] : ['-f', await this.file(text), ...(command === 'apply' ? ['--yes'] : [])];
      return this.run([command, '-w', name, ...args, ...further]);
    };
    return { name, tenantId, client: new Client(this.service.url, adminKey), run };
  }

  /** A command in this process, with the exit code that its program would have. */
  async run(args: readonly string[]): Promise<CommandResult> {
    const [out, said]: [string[], string[]] = [[], []];
    const program = cliProgram({
      out: (text) => out.push(text),
      say: (words) => said.push(words),
      within: (work) => work(this.service.app),
      withinMigrated: (work) => work(this.service.app),
      onDatabase: () => Promise.reject(new Error('Not a command of the whole database')),
    });
    const failure: unknown = await program.parseAsync(['node', 'cds', ...args]).catch((error: unknown) => error);
    const isFailure = failure instanceof ClientFailure;
    if (!isFailure && failure instanceof Error) throw failure;
    return {
      code: isFailure ? failure.exitCode : 0,
      out: out.join('\n'),
      said: [...said, ...(isFailure ? [failure.message] : [])].join('\n'),
    };
  }
}

/** Applies a file, which must succeed. */
export async function applied(
  workspace: ConfiguredWorkspace,
  text: string,
  ...further: readonly string[]
): Promise<CommandResult> {
  const result = await workspace.run('apply', text, ...further);
  expect(result).toMatchObject({ code: 0 });
  return result;
}

/** What a plan says, and that the command ends with 2. */
export async function planned(
  workspace: ConfiguredWorkspace,
  text: string,
  ...further: readonly string[]
): Promise<string> {
  const { code, out } = await workspace.run('plan', text, ...further);
  expect(code).toBe(2);
  return out;
}

/** A file with one event type. */
export function anEventType(properties: object, name = 'purchase'): string {
  return `version: 1\neventTypes: ${JSON.stringify([{ eventType: name, properties }])}\n`;
}
