import { Controller, Get } from '@nestjs/common';
import { AuthenticateParticipant } from '../../src/platform/auth/authenticate.decorator';
import { CallingParticipant } from '../../src/platform/auth/caller.decorator';
import type { Participant } from '../../src/platform/auth/principal';

export const PROBE = '/v1/probe';

/** A route that answers whom the service takes its caller for; to be added to an application by `startApp`. */
@Controller(PROBE)
export class ProbeController {
  @Get()
  @AuthenticateParticipant()
  probeParticipant(@CallingParticipant() participant: Participant): object {
    const { allowedCampaignIds } = participant;
    return { ...participant, allowedCampaignIds: allowedCampaignIds === null ? null : [...allowedCampaignIds] };
  }
}
