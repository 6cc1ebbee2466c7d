import { ApiSchema } from '@nestjs/swagger';

/**
 * The body of a call that says everything in its path: `{}`, or none with `@JsonBody(NoFieldsDto, { optional: true })`.
 */
@ApiSchema({ description: 'An empty object.' })
export class NoFieldsDto {}
