import { checkOutput, publishPart, type OutputFile } from '../../output-file';
import type { EventOutput, ExportedEvent, ExportPosition, SavePosition } from './event-output';
import { GrowingFile, type WrittenPart } from './growing-file';
import { linesOf } from './ndjson-stream';

/** So much work is done again after a kill. */
const SAVE_EVERY_MS = 1_000;

/** One JSON object in each line. The file has the suffix `.part` until it is complete. */
export class NdjsonFile implements EventOutput {
  readonly room = Number.POSITIVE_INFINITY;
  private position: ExportPosition | undefined;
  private savedAt = Number.NEGATIVE_INFINITY;

  private constructor(
    private readonly output: OutputFile,
    private readonly file: GrowingFile,
    private readonly save: SavePosition,
    private isSaved: boolean,
  ) {}

  /** `written`: of the interrupted run that this one goes on with. Throws `ClientFailure` (exit code 2). */
  static async open(output: OutputFile, written: WrittenPart | undefined, save: SavePosition): Promise<NdjsonFile> {
    await checkOutput(output);
    const part = partOf(output);
    const file = written === undefined ? await GrowingFile.create(part) : await GrowingFile.resume(part, written);
    return new NdjsonFile(output, file, save, written !== undefined);
  }

  /** Gives the file its name, unless it has it: also called after a kill. */
  static async publish(output: OutputFile): Promise<void> {
    await publishPart(partOf(output), output);
  }

  async append(events: readonly ExportedEvent[], position: ExportPosition): Promise<void> {
    await this.file.append(Buffer.from(linesOf(events)));
    this.position = position;
    if (performance.now() - this.savedAt >= SAVE_EVERY_MS) await this.saveNow(position);
  }

  async finish(): Promise<void> {
    if (this.position !== undefined) await this.saveNow(this.position);
    await this.file.close();
    await NdjsonFile.publish(this.output);
  }

  async suspend(): Promise<void> {
    if (this.position !== undefined) await this.saveNow(this.position);
    // Of a run that no service has answered nothing stays behind.
    if (this.isSaved) await this.file.close();
    else await this.file.discard();
  }

  private async saveNow(position: ExportPosition): Promise<void> {
    await this.file.sync();
    await this.save(position, await this.file.written());
    this.isSaved = true;
    this.savedAt = performance.now();
  }
}

function partOf({ path }: OutputFile): string {
  return `${path}.part`;
}
