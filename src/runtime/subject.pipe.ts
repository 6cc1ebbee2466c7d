import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { invalidCharactersFault, tooLongFault } from '../platform/errors/fault-words';
import { validationFailed } from '../platform/errors/validation-failed';
import { hasMoreCharacters } from '../platform/text/character-count';
import { isStorable } from '../platform/text/storable-text';
import { SUBJECT_CHARACTERS_MAX } from './domain/state-owner';

/** Refuses a path parameter that cannot be the subject of a token. */
@Injectable()
export class SubjectPipe implements PipeTransform<string, string> {
  transform(subject: string, { data = 'sub' }: ArgumentMetadata): string {
    const faults = [
      ...(hasMoreCharacters(subject, SUBJECT_CHARACTERS_MAX) ? [tooLongFault(data, SUBJECT_CHARACTERS_MAX)] : []),
      ...(isStorable(subject) ? [] : [invalidCharactersFault(data)]),
    ];
    if (faults.length > 0) throw validationFailed(faults);
    return subject;
  }
}
