import { Module } from '@nestjs/common';
import { IngestModule } from '../../ingest/ingest.module';
import { ReviewModule } from '../../review/review.module';
import { LiveChannel } from './live-channel';
import { LiveRecorder } from './live-recorder';
import { LiveViewers } from './live-viewers';

@Module({
  imports: [IngestModule, ReviewModule],
  providers: [LiveChannel, LiveRecorder, LiveViewers],
  exports: [LiveViewers],
})
export class LiveModule {}
