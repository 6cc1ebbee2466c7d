import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser of the browser tests: CHROMIUM_PATH, Debian's, or the first one in PATH; undefined without any. */
export function findChromium() {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  const inPath = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [CHROMIUM_PATH ?? '', '/usr/bin/chromium', ...inPath].find((path) => path !== '' && existsSync(path));
}
