import { Controller, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CustomerErasure } from '../../identity/customer-erasure';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { ErasureDto, LiftedErasureDto } from './dto/personal-data.dto';
import { IdentityLookupDto } from './dto/profile.dto';
import { ErasuresService } from './erasures.service';
import { IdentityLookupCheck } from './identity-lookup-check';
import { ProfilesService } from './profiles.service';

@ApiTags('Profiles')
@Controller('v1/cdp')
export class ErasuresController {
  constructor(
    private readonly erasures: ErasuresService,
    private readonly customers: CustomerErasure,
    private readonly profiles: ProfilesService,
    private readonly lookups: IdentityLookupCheck,
  ) {}

  /** Erases a person for good, and refuses their events from now on. Idempotent. */
  @Post('profiles/:id\\:erase')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:write', { proof: true })
  @ApiOkResponse({ type: ErasureDto })
  async eraseProfile(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<ErasureDto> {
    return ErasureDto.of(await this.erasures.erase(caller, id, address));
  }

  /** Erases the person with an identifier for good. Participants without events are found by their `sub`. */
  @Post('profiles\\:erase')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:write', { proof: true })
  @MayRefuse('not_found')
  @ApiOkResponse({ type: ErasureDto })
  async erasePerson(
    @Caller() caller: Principal,
    @JsonBody(IdentityLookupDto, { checked: false }) body: unknown,
    @Ip() address: string,
  ): Promise<ErasureDto> {
    return ErasureDto.of(await this.erasures.eraseByIdentifier(caller, this.lookups.check(body), address));
  }

  /** Accepts events of an erased person again, by any of their identifiers. Erased data stay erased. */
  @Post('erasures\\:lift')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:write')
  @ApiOkResponse({ type: LiftedErasureDto })
  async liftErasure(
    @Caller() { tenantId, credentialId: by }: Principal,
    @JsonBody(IdentityLookupDto, { checked: false }) body: unknown,
    @Ip() address: string,
  ): Promise<LiftedErasureDto> {
    const identifier = this.profiles.identifierOf(this.lookups.check(body));
    const lifted = await this.customers.lift(tenantId, identifier, { by, address });
    return { status: lifted > 0 ? 'lifted' : 'not_erased' };
  }
}
