import type { INestApplicationContext } from '@nestjs/common';
import { EventTypeReader } from '../../cdp/event-types/event-type-reader';
import { EventTypesService } from '../../cdp/event-types/event-types.service';
import { JwtIssuersService } from '../../jwt-issuers/jwt-issuers.service';
import type { Principal } from '../../platform/auth/principal';
import { DomainError } from '../../platform/errors/domain-error';
import { BodyValidators } from '../../platform/http/body/body-validators';
import type { TransactionPrecondition } from '../../platform/postgres/transaction-precondition';
import { ReactionsService } from '../../reactions/reactions.service';
import { RetentionService } from '../../retention/retention.service';
import { VariablesService } from '../../variables/variables.service';
import { WebhooksService } from '../../webhooks/webhooks.service';
import { messageOf } from '../../platform/errors/error-summary';
import { ClientFailure } from '../running-service';
import { ByteBudget } from './byte-budget';
import { configurationText, type ConfigurationFile } from './configuration-file';
import type {
  ConfigurationEntry,
  ConfigurationKind,
  KindName,
  PlannedChange,
  StoredConfigurationEntry,
} from './configuration-kind';
import { byKey, isSame, planConfiguration, type KindPlan } from './configuration-plan';
import { EventTypesKind } from './kinds/event-types-kind';
import { IssuersKind } from './kinds/issuers-kind';
import { ReactionsKind } from './kinds/reactions-kind';
import { RetentionKind } from './kinds/retention-kind';
import { VariablesKind } from './kinds/variables-kind';
import { WebhooksKind } from './kinds/webhooks-kind';

/** The transactions of one run: each does changes of one kind. */
interface Step {
  readonly kind: ConfigurationKind;
  readonly changes: readonly PlannedChange[];
}

/** The configuration of one workspace, by the services of the application. */
export class WorkspaceConfiguration {
  private readonly budget = new ByteBudget();
  private readonly kinds: readonly ConfigurationKind[];

  constructor(parts: INestApplicationContext, caller: Principal) {
    const { budget } = this;
    const validators = parts.get(BodyValidators);
    this.kinds = [
      new EventTypesKind(caller, budget, parts.get(EventTypeReader), parts.get(EventTypesService)),
      new VariablesKind(caller, budget, parts.get(VariablesService), validators),
      new ReactionsKind(caller, budget, parts.get(ReactionsService)),
      new WebhooksKind(caller, parts.get(WebhooksService)),
      new IssuersKind(caller, budget, parts.get(JwtIssuersService)),
      new RetentionKind(caller, parts.get(RetentionService), validators),
    ];
  }

  /** The text of a file that holds all of it, in an order that is always the same. Throws `ClientFailure`. */
  async export(): Promise<string> {
    const stored = await this.stored();
    const entries = new Map<KindName, readonly ConfigurationEntry[]>();
    for (const { name } of this.kinds) {
      const records = [...(stored.get(name) ?? [])];
      // Records with one key keep their order, which tells them apart.
      records.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
      entries.set(
        name,
        records.map(({ entry }) => entry),
      );
    }
    return configurationText(entries);
  }

  /** Throws `ClientFailure` with the place of every fault. */
  async plan(file: ConfigurationFile, { prunes }: { readonly prunes: boolean }): Promise<readonly KindPlan[]> {
    return planConfiguration(this.kinds, file, { prunes, stored: await this.stored() });
  }

  /**
   * Does what a plan says, each kind in one transaction. What is archived comes last, in the opposite order: nothing
   * loses what it still needs. `done` hears of each transaction. Throws `ClientFailure` when a kind cannot be changed;
   * the kinds before it are, and the same file may be applied again.
   */
  async apply(
    plans: readonly KindPlan[],
    { allowBreaking, done }: { readonly allowBreaking: boolean; readonly done: (step: Step) => void },
  ): Promise<void> {
    const steps = [
      ...plans.map((plan) => stepOf(plan, (action) => action !== 'archive')),
      ...plans.toReversed().map((plan) => stepOf(plan, (action) => action === 'archive')),
    ].filter(({ changes }) => changes.length > 0);
    for (const step of steps) {
      const { kind, changes } = step;
      try {
        await kind.apply(changes, { allowBreaking, precondition: this.unchangedSince(step) });
      } catch (error) {
        throw stepFailure(kind, error);
      }
      done(step);
    }
  }

  private async stored(): Promise<ReadonlyMap<KindName, readonly StoredConfigurationEntry[]>> {
    this.budget.reset();
    const stored = new Map<KindName, readonly StoredConfigurationEntry[]>();
    for (const kind of this.kinds) stored.set(kind.name, await kind.read());
    return stored;
  }

  /** Refuses to overwrite what has changed since the plan was made. */
  private unchangedSince({ kind, changes }: Step): TransactionPrecondition {
    return async (manager) => {
      this.budget.reset();
      const now = byKey(await kind.read(manager));
      for (const { key, id, before } of changes) {
        const record = now.get(key);
        if (before === undefined && record === undefined) continue;
        const isAsBefore = before !== undefined && record !== undefined && record.id === id;
        if (isAsBefore && isSame(kind, before, record.entry)) continue;
        throw new ClientFailure(`${key} was changed by somebody else since the plan was made.`);
      }
    };
  }
}

function stepOf({ kind, changes }: KindPlan, isIn: (action: PlannedChange['action']) => boolean): Step {
  return { kind, changes: changes.filter(({ action }) => isIn(action)) };
}

/** A refusal in words; any other error as it is. */
function stepFailure({ name }: ConfigurationKind, error: unknown): unknown {
  if (!(error instanceof DomainError) && !(error instanceof ClientFailure)) return error;
  const details = error instanceof DomainError ? error.details.slice(1).map(({ message }) => message) : [];
  const next = `No change of ${name} was applied. Run "cds plan" to see what is left, and apply it again.`;
  return new ClientFailure([`${name}: ${messageOf(error)}`, ...details, next].join('\n'));
}
