import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');

describe('the imports between folders', () => {
  it('go only where .dependency-cruiser.cjs allows them', async () => {
    const cruise = join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
    const { stdout } = await run(process.execPath, [cruise, 'src', '--config', '.dependency-cruiser.cjs'], {
      cwd: ROOT,
    }).catch((failure: unknown) => failure as { stdout: string });
    expect(stdout).toContain('no dependency violations found');
  });
});
