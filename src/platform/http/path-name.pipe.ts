import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { formatFault } from '../errors/fault-words';
import { validationFailed } from '../errors/validation-failed';
import { PATH_NAME, PATH_NAME_FORM } from '../values/text/path-name';

/** Refuses a path parameter that is not a valid name: `@Param('campaign_id', PathNamePipe)`. */
@Injectable()
export class PathNamePipe implements PipeTransform<unknown, string> {
  transform(name: unknown, { data = 'name' }: ArgumentMetadata): string {
    if (typeof name === 'string' && PATH_NAME.test(name)) return name;
    throw validationFailed([formatFault(data, PATH_NAME_FORM)]);
  }
}
