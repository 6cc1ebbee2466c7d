import type { Writable } from 'node:stream';
import type { EventOutput, SavePosition, WrittenOutput } from './event-output';
import type { EventExportOptions } from './export-options';
import { NdjsonFile } from './ndjson-file';
import { NdjsonStream } from './ndjson-stream';
import { ParquetFiles } from './parquet-files';

/** The output that was asked for, behind what an interrupted run has written. Throws `ClientFailure` (exit code 2). */
export async function openOutput(
  { output, format, rowsPerFile }: EventExportOptions,
  written: WrittenOutput | undefined,
  standardOutput: Writable,
  save: SavePosition,
): Promise<EventOutput> {
  if (output === undefined) return new NdjsonStream(standardOutput);
  const isOfFiles = written !== undefined && 'files' in written;
  if (format === 'parquet') return ParquetFiles.open({ output, rowsPerFile }, isOfFiles ? written.files : 0, save);
  return NdjsonFile.open(output, isOfFiles ? undefined : written, save);
}

/** Gives the last file of a complete output its name, if a kill has prevented that. Throws `ClientFailure`. */
export async function publishOutput({ output }: EventExportOptions, written: WrittenOutput): Promise<void> {
  if (output === undefined) return;
  if ('files' in written) await ParquetFiles.publish(output, written.files);
  else await NdjsonFile.publish(output);
}
