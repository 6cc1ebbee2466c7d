import { Injectable } from '@nestjs/common';
import { excessFault } from '../../platform/errors/fault-words';
import { UnparsedEntry } from '../../platform/values/json/json-entries';
import type { ParsedEvent } from '../domain/event';
import type { EventFamily, Submission } from '../domain/submission';
import { refuseInvalid } from './event-fields';

/** Checks a submission of one family: shape, text, times, identity, limits, contract. Names every fault. */
export type ParseEvent = (tenantId: string, submission: Submission) => ParsedEvent | Promise<ParsedEvent>;

/** The parser of each family. A feature that owns a family adds its parser when the application starts. */
@Injectable()
export class EventParsers {
  private readonly parsers = new Map<EventFamily, ParseEvent>();

  add(family: EventFamily, parse: ParseEvent): void {
    this.parsers.set(family, parse);
  }

  parse(tenantId: string, submission: Submission): ParsedEvent | Promise<ParsedEvent> {
    const { value } = submission;
    if (value instanceof UnparsedEntry) return refuseInvalid(submission, [excessFault('', value.excess)]);
    const parse = this.parsers.get(submission.family);
    if (parse === undefined) throw new Error(`No parser was added for the family ${submission.family}.`);
    return parse(tenantId, submission);
  }
}
