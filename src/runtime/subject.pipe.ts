import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { describeFaults } from '../platform/errors/describe-faults';
import { DomainError } from '../platform/errors/domain-error';
import { invalidCharactersFault, tooLongFault } from '../platform/errors/fault-words';
import { hasMoreCharacters } from '../platform/text/character-count';
import { isStorable } from '../platform/text/storable-text';
import { SUBJECT_CHARACTERS_MAX } from './domain/state-owner';

/** Refuses a path parameter that cannot be the subject of a token. */
@Injectable()
export class SubjectPipe implements PipeTransform<string, string> {
  transform(subject: string, { data = 'sub' }: ArgumentMetadata): string {
    const details = [
      ...(hasMoreCharacters(subject, SUBJECT_CHARACTERS_MAX) ? [tooLongFault(data, SUBJECT_CHARACTERS_MAX)] : []),
      ...(isStorable(subject) ? [] : [invalidCharactersFault(data)]),
    ];
    if (details.length === 0) return subject;
    throw new DomainError('validation_failed', describeFaults(details), { details });
  }
}
