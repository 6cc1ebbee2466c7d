import { ApiHideProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { PATH_NAME } from '../../platform/values/text/path-name';

/** The alias is not in the document: code that is generated from it would have two parameters of one name. */
export class StateQuery {
  /** The campaign, where neither the address nor the token names it; `campaignId` is taken, too. */
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

/** Where the address names the campaign. A query that names the same one is taken still, and is not in the document. */
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
