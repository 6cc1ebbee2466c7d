import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller, type AuthenticatedRequest } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { NDJSON_MEDIA_TYPE, sendNdjson } from '../../platform/http/send-ndjson';
import { UnmaskAudit } from '../../platform/auth/unmask-audit';
import { ReadSlots } from '../../platform/rate-limit/read-slots';
import { ExportedRecordDto } from './dto/profile-export.dto';
import { IdentityLookupDto } from './dto/profile.dto';
import { ProfileExport } from './profile-export';
import { ProfilesService } from './profiles.service';

/** What a person may ask of whoever keeps their data. */
@ApiTags('Profiles')
@Controller('v1/cdp')
export class PersonalDataController {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly exports: ProfileExport,
    private readonly unmasking: UnmaskAudit,
    private readonly slots: ReadSlots,
  ) {}

  /** Hands out all that is held about whoever has an identifier; also of participants without events, by their `sub`. */
  @Post('profiles\\:export')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:read', { and: ['pii:read'], streams: true })
  @MayRefuse('not_found')
  @ApiProduces(NDJSON_MEDIA_TYPE)
  @ApiOkResponse({ type: ExportedRecordDto, description: 'Lines of NDJSON, each one record.' })
  async exportPerson(
    @Caller() { tenantId }: Principal,
    @JsonBody(IdentityLookupDto) wanted: IdentityLookupDto,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const records = await this.slots.run(tenantId, () => this.exports.ofIdentifier(tenantId, wanted));
    await this.unmasking.note(request);
    await sendNdjson(response, this.slots.each(tenantId, records));
  }

  /** Hands out everything that is held about a customer, unmasked: one JSON text a line. */
  @Post('profiles/:id\\:export')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:read', { and: ['pii:read'], streams: true })
  @ApiProduces(NDJSON_MEDIA_TYPE)
  @ApiOkResponse({ type: ExportedRecordDto, description: 'Lines of NDJSON, each one record.' })
  async exportProfile(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Req() request: AuthenticatedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const customer = await this.slots.run(tenantId, () => this.profiles.find(tenantId, id));
    await this.unmasking.note(request);
    await sendNdjson(response, this.slots.each(tenantId, this.exports.records(tenantId, customer)));
  }
}
