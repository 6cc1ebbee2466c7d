import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { emptyFault, invalidCharactersFault, tooLongFault } from '../platform/errors/fault-words';
import { validationFailed } from '../platform/errors/validation-failed';
import { hasMoreCharacters, isStorable, trimBlank } from '../platform/values/text/text-rules';
import { SUBJECT_CHARACTERS_MAX } from './domain/state-owner';

/** The subject in a path, trimmed like those of tokens. Refuses text that no token can have as its subject. */
@Injectable()
export class SubjectPipe implements PipeTransform<string, string> {
  transform(sent: string, { data = 'sub' }: ArgumentMetadata): string {
    const subject = trimBlank(sent);
    const faults = [
      ...(subject === '' ? [emptyFault(data)] : []),
      ...(hasMoreCharacters(subject, SUBJECT_CHARACTERS_MAX) ? [tooLongFault(data, SUBJECT_CHARACTERS_MAX)] : []),
      ...(isStorable(subject) ? [] : [invalidCharactersFault(data)]),
    ];
    if (faults.length > 0) throw validationFailed(faults);
    return subject;
  }
}
