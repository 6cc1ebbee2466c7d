import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { describeFaults } from '../errors/describe-faults';
import { DomainError } from '../errors/domain-error';
import { formatFault } from '../errors/fault-words';
import { PATH_NAME } from '../text/path-name';

const FORM = 'is 1 to 128 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit';

/** Refuses a path parameter that is no name: `@Param('campaign_id', PathNamePipe)`. */
@Injectable()
export class PathNamePipe implements PipeTransform<unknown, string> {
  transform(name: unknown, { data = 'name' }: ArgumentMetadata): string {
    if (typeof name === 'string' && PATH_NAME.test(name)) return name;
    const details = [formatFault(data, FORM)];
    throw new DomainError('validation_failed', describeFaults(details), { details });
  }
}
