import { Unmaskable, type Unmask } from '../../../platform/auth/unmask.query';
import { PageQuery } from '../../../platform/pagination/page.query';

export class ProfileListQuery extends PageQuery {
  @Unmaskable()
  unmask?: Unmask;
}
