import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller, type AuthenticatedRequest } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { NDJSON_MEDIA_TYPE, sendNdjson } from '../../platform/http/send-stream';
import { whileAdmitted } from '../../platform/http/while-admitted';
import { UnmaskAudit } from '../../platform/auth/unmask-audit';
import { ReadSlots } from '../../platform/rate-limit/read-slots';
import { ExportedRecordDto } from './dto/personal-data.dto';
import { IdentityLookupDto } from './dto/profile.dto';
import { IdentityLookupCheck } from './identity-lookup-check';
import { ProfileExport } from './profile-export';
import { ProfilesService } from './profiles.service';

/** The exports of a person's data. */
@ApiTags('Profiles')
@Controller('v1/cdp')
export class PersonalDataController {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly lookups: IdentityLookupCheck,
    private readonly exports: ProfileExport,
    private readonly unmasking: UnmaskAudit,
    private readonly slots: ReadSlots,
  ) {}

  /**
   * Exports all data of the person with an identifier, unmasked. Participants without events are found by their `sub`.
   */
  @Post('profiles\\:export')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:read', { and: ['pii:read'], streams: true })
  @MayRefuse('not_found')
  @ApiProduces(NDJSON_MEDIA_TYPE)
  @ApiOkResponse({ type: ExportedRecordDto, description: 'NDJSON: one record in each line.' })
  async exportPerson(
    @Caller() { tenantId }: Principal,
    @JsonBody(IdentityLookupDto, { checked: false }) body: unknown,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const identity = this.lookups.check(body);
    const ofPerson = () => this.exports.ofIdentifier(tenantId, identity);
    const { records, profiles } = await this.slots.run(tenantId, ofPerson);
    await this.unmasking.note(request, { profiles });
    await sendNdjson(response, whileAdmitted(request, this.slots.each(tenantId, records)));
  }

  /** Exports all data of a customer, unmasked, as NDJSON. */
  @Post('profiles/:id\\:export')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:read', { and: ['pii:read'], streams: true })
  @ApiProduces(NDJSON_MEDIA_TYPE)
  @ApiOkResponse({ type: ExportedRecordDto, description: 'NDJSON: one record in each line.' })
  async exportProfile(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const customer = await this.slots.run(tenantId, () => this.profiles.find(tenantId, id));
    await this.unmasking.note(request, { profiles: customer.profileIds });
    const records = this.exports.records(tenantId, customer);
    await sendNdjson(response, whileAdmitted(request, this.slots.each(tenantId, records)));
  }
}
