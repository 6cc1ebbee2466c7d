import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches, MaxLength, ValidateBy } from 'class-validator';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';

/** No scheme, no host, and nothing that browsers change. */
const PAGE = /^(?:[\w-][\w./?=&%,:+~-]*)?$/;
const LEADS_ELSEWHERE = /\.\.|\/\//;
/** Stands for the address of the console, whatever its host and the path before it are. */
const CONSOLE = 'http://localhost/console/';
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
  @IsPage()
  @ApiPropertyOptional()
  page?: string;

  /** `true` asks the person to show again who they are. */
  @IsOptional()
  @IsIn(['true', 'false'])
  @ApiPropertyOptional()
  prove?: 'true' | 'false';
}

function IsPage(): PropertyDecorator {
  const defaultMessage = (): string => 'page is not the address of a page below /console/.';
  return ValidateBy({ name: 'isPage', validator: { validate: isPage, defaultMessage } });
}

/**
 * Whether a browser that is sent to this address below `/console/` stays there. It follows each step up in the path, also one
 * written `%2e%2e`, which changes the path. An address that stays the same has none, so it is safe below any path prefix.
 */
function isPage(page: unknown): boolean {
  if (typeof page !== 'string' || !PAGE.test(page) || LEADS_ELSEWHERE.test(page)) return false;
  const address = `${CONSOLE}${page}`;
  return new URL(address).href === address;
}
