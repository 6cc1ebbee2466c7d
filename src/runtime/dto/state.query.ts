import { ApiHideProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { PATH_NAME } from '../../platform/values/text/path-name';

/** The alias is not in the OpenAPI document: generated clients would have two parameters of one name. */
export class StateQuery {
  /** The campaign, if neither the path nor the token names it; `campaignId` is accepted, too. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  campaign_id?: string;

  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  @ApiHideProperty()
  campaignId?: string;
}

/** For routes with the campaign in the path. A query may name the same campaign, but the OpenAPI document omits it. */
export class CampaignStateQuery {
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  @ApiHideProperty()
  campaign_id?: string;

  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  @ApiHideProperty()
  campaignId?: string;
}

export class ParticipantStateQuery {
  /** The app whose values are shown; `default` when absent. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  app_id?: string;
}
