import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches, MaxLength } from 'class-validator';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';

/** Below `/console/`: no scheme, no host, no way up. */
const PAGE = /^(?:[\w-][\w./?=&%,:+~-]*)?$/;
const PAGE_CHARACTERS_MAX = 500;

export class OidcSignInQuery {
  /** The workspace, where groups give access to several; the first by name when absent. */
  @IsOptional()
  @Matches(PATH_NAME, { message: `workspace ${PATH_NAME_FORM}.` })
  @ApiPropertyOptional()
  workspace?: string;

  /** The page of the console to show then, as its address goes on behind `/console/`. */
  @IsOptional()
  @MaxLength(PAGE_CHARACTERS_MAX)
  @Matches(PAGE, { message: 'page is not the address of a page below /console/.' })
  @Matches(/^(?!.*(?:\.\.|\/\/))/, { message: 'page is not the address of a page below /console/.' })
  @ApiPropertyOptional()
  page?: string;

  /** `true` asks the person to show again who they are. */
  @IsOptional()
  @IsIn(['true', 'false'])
  @ApiPropertyOptional()
  prove?: 'true' | 'false';
}
