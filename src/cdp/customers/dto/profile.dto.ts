import { ApiProperty } from '@nestjs/swagger';
import { IsDefined, IsString, MaxLength } from 'class-validator';
import { IDENTIFIER_KINDS } from '../../../identity/domain/identifier';
import type { EventViewOptions } from '../../../ingest/log/event-views';
import { maskIdentity } from '../../../platform/privacy/mask-text';
import type { CustomerView, CustomerViewPage } from '../domain/customer-view';

const TYPE_CHARACTERS_MAX = 64;
/** Before normalisation, which trims white space. A normalised value has at most 256 characters. */
const VALUE_CHARACTERS_MAX = 512;

/** One identifier of a person. It is sent in a body, so that it occurs in no URL and no log. */
export class IdentityLookupDto {
  /**
   * `EXTERNAL`, `EMAIL`, `PHONE`, `DEVICE`, `external_user_id` or `device_key`, in any case.
   * @example "EMAIL"
   */
  @IsDefined()
  @IsString()
  @MaxLength(TYPE_CHARACTERS_MAX)
  type!: string;

  /**
   * Before normalisation.
   * @example "jane@example.com"
   */
  @IsDefined()
  @IsString()
  @MaxLength(VALUE_CHARACTERS_MAX)
  value!: string;
}

/** An identifier of a customer. The value is masked, except with `unmask=true`. */
export class ProfileIdentifierDto {
  @ApiProperty({ enum: IDENTIFIER_KINDS, enumName: 'IdentifierType' })
  type!: string;

  /** @example "cu***" */
  value!: string;
}

/** A customer: the profiles that belong to one person. */
export class ProfileDto {
  /** The id of the surviving profile, also if the request named a merged one. */
  id!: string;

  /** The strongest first. */
  identifiers!: ProfileIdentifierDto[];

  /** When the first event of its timeline occurred. */
  firstSeenAt!: Date;

  /** When the last event of its timeline occurred. */
  lastSeenAt!: Date;

  eventCount!: number;

  /** Further events, which were removed when their retention ended. */
  eventsExpired!: number;

  /** The profiles that were merged into it. Their ids keep working. */
  mergedFrom!: string[];

  static of({ customer, extent }: CustomerView, { unmasked }: EventViewOptions): ProfileDto {
    const { rootId, identifiers, profileIds, createdAt } = customer;
    return {
      id: rootId,
      identifiers: identifiers.map(({ kind, value }) => ({
        type: kind,
        value: unmasked ? value : maskIdentity(kind, value),
      })),
      firstSeenAt: extent.firstAt ?? createdAt,
      lastSeenAt: extent.lastAt ?? createdAt,
      eventCount: extent.events,
      eventsExpired: extent.expired,
      mergedFrom: profileIds.filter((profileId) => profileId !== rootId),
    };
  }
}

export class ProfilePageDto {
  items!: ProfileDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ views, nextCursor }: CustomerViewPage, options: EventViewOptions): ProfilePageDto {
    return { items: views.map((view) => ProfileDto.of(view, options)), nextCursor };
  }
}
