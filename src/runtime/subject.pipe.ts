import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { describeFaults } from '../platform/errors/describe-faults';
import { DomainError } from '../platform/errors/domain-error';
import { invalidCharactersFault, tooLongFault } from '../platform/errors/fault-words';
import { isStorable } from '../platform/text/storable-text';

/** As of the `sub` of a token. */
const SUBJECT_CHARACTERS_MAX = 256;

/** Refuses a path parameter that cannot be the subject of a token. */
@Injectable()
export class SubjectPipe implements PipeTransform<string, string> {
  transform(subject: string, { data = 'sub' }: ArgumentMetadata): string {
    const tooLong = Array.from(subject).length > SUBJECT_CHARACTERS_MAX;
    const details = [
      ...(tooLong ? [tooLongFault(data, SUBJECT_CHARACTERS_MAX)] : []),
      ...(isStorable(subject) ? [] : [invalidCharactersFault(data)]),
    ];
    if (details.length === 0) return subject;
    throw new DomainError('validation_failed', describeFaults(details), { details });
  }
}
