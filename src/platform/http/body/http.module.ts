import { Global, Module } from '@nestjs/common';
import { BodyValidators } from './body-validators';

/** What every feature's routes need of the HTTP platform; imported once, by the application's module. */
@Global()
@Module({ providers: [BodyValidators], exports: [BodyValidators] })
export class HttpModule {}
