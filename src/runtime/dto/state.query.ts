import { IsOptional, IsString, Matches } from 'class-validator';
import { PATH_NAME } from '../../platform/text/path-name';

export class StateQuery {
  /** The campaign, where neither the address nor the token names it. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  campaign_id?: string;

  /** The same as `campaign_id`. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  campaignId?: string;
}

export class ParticipantStateQuery {
  /** The app whose values are shown; `default` when absent. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  app_id?: string;
}
