import { Module } from '@nestjs/common';
import { EventEffects } from './effects';

@Module({ providers: [EventEffects], exports: [EventEffects] })
export class ProcessingModule {}
