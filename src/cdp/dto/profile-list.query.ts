import { Unmaskable, type Unmask } from '../../platform/masking/unmask.query';
import { PageQuery } from '../../platform/pagination/page.query';

export class ProfileListQuery extends PageQuery {
  @Unmaskable()
  unmask?: Unmask;
}
