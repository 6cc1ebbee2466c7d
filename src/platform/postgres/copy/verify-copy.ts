import { CopyError, type CopyEnd } from './copy-format';
import { headerOf, lineOf } from './copy-lines';
import { CopyReader } from './copy-reader';

/** Reads a whole copy; throws CopyError unless it is complete and unchanged. */
export async function verifyCopy(source: AsyncIterable<Buffer>): Promise<CopyEnd> {
  const reader = new CopyReader(source);
  headerOf((await reader.readLine()).content);
  for (;;) {
    const { content, checksum } = await reader.readLine();
    const line = lineOf(content);
    if ('table' in line) await skipRows(reader);
    if (!('end' in line)) continue;
    await reader.expectEnd();
    if (line.end.sha256 !== checksum) {
      throw new CopyError('The copy is damaged: its checksum is not that of its content.');
    }
    return line.end;
  }
}

async function skipRows(reader: CopyReader): Promise<void> {
  const rows = reader.rows();
  while ((await rows.next()).done !== true);
}
