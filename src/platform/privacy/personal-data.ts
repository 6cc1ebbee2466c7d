import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** How text shows a person: forms of their identifiers. */
export interface Traces {
  /** As a whole value, between quotation marks or bare under a name that says so: such a text by itself may be anything. */
  readonly quoted: readonly string[];
  /** Anywhere; in lower case. */
  readonly within: readonly string[];
  /** Digits, whatever separates them. */
  readonly digits: readonly string[];
}

/** An identifier of a person. */
export interface PersonIdentifier {
  readonly kind: 'EXTERNAL' | 'EMAIL' | 'PHONE' | 'DEVICE';
  /** Normalised. */
  readonly value: string;
}

/** Somebody whose data are exported or erased, by every name that the service has for them. */
export interface Person {
  readonly tenantId: string;
  /** Every profile of the customer; none of a participant without events. */
  readonly profileIds: readonly string[];
  /** The EXTERNAL identifier, which is the subject of their tokens; null for who has none. */
  readonly subject: string | null;
  readonly identifiers: readonly PersonIdentifier[];
  /** Forms of the identifiers. */
  readonly traces: Traces;
  /** Which of these events are theirs; asked by way of the caller's transaction, which holds a connection already. */
  readonly ownEvents: (manager: EntityManager, eventIds: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** One line of an export. */
export interface PersonalRecord {
  readonly record: string;
  readonly data: object;
}

/** How far a feature has got that erases in steps; kept, so that an erasure that was killed goes on from there. */
export interface ErasureSteps {
  /** When the first of them began, in any process. What was written later may not have been looked at. */
  readonly begunAt: Date;
  /** Behind what is done; undefined at the beginning. */
  readonly position: string | undefined;
  /** Everything up to here is done; kept once a second, and when the process stops. Throws what `goOn` throws. */
  done(position: string): Promise<void>;
  /**
   * To be called before each statement; notes once a second that somebody works on the erasure. Throws `unavailable` once the
   * process is told to stop, so that another one, or a later start, takes the erasure up; and once another process has
   * finished it: what has come in since is not to be erased.
   */
  readonly goOn: () => Promise<void>;
  /** What the erasure waits for when all features are ahead, and may take long: erasures of others go on meanwhile. */
  readonly waitFor: (end: () => Promise<void>) => void;
}

/** A feature that stores data of persons (contract section 5, export and erasure). */
export interface PersonalDataKeeper {
  /** Under which its steps are kept. */
  readonly name: string;
  /** Whether it knows the subject of a token, who may be without events. */
  knowsSubject?(tenantId: string, subject: string): Promise<boolean>;
  /** Everything that it holds about somebody, unmasked. */
  exportOf(person: Person): AsyncIterable<PersonalRecord>;
  /**
   * Erases what would be too much for one transaction, while more may still come; may be called again. Answers whether nothing is
   * left of what was there when the steps began.
   */
  eraseAhead?(person: Person, steps: ErasureSteps): Promise<boolean>;
  /**
   * Erases what is left, in the transaction that forgets who it was: of what was written since then, or of everything. Nothing
   * more of theirs comes in by then.
   */
  erase(manager: EntityManager, person: Person, since: Date | null): Promise<void>;
}

/**
 * The features that keep data of persons. Each registers when the application starts, so that exports and erasures reach all of
 * them without importing any.
 */
@Injectable()
export class PersonalData {
  private readonly registered: PersonalDataKeeper[] = [];

  register(keeper: PersonalDataKeeper): void {
    this.registered.push(keeper);
  }

  keepers(): readonly PersonalDataKeeper[] {
    return this.registered;
  }

  async knowsSubject(tenantId: string, subject: string): Promise<boolean> {
    for (const keeper of this.registered) if ((await keeper.knowsSubject?.(tenantId, subject)) === true) return true;
    return false;
  }
}
