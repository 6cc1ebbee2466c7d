// node scripts/compress-console.mjs [folder]: compresses the files of the console once, for all browsers that take it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const [, , folder = join(ROOT, 'dist', 'console')] = process.argv;
/** Other files are compressed already. */
const TEXTS = new Set(['.css', '.js', '.json', '.svg', '.webmanifest']);
/** Less fits into one packet anyway. */
const BYTES_MIN = 1024;

const files = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
for (const { parentPath, name } of files.filter((entry) => entry.isFile() && TEXTS.has(extname(entry.name)))) {
  const path = join(parentPath, name);
  const bytes = readFileSync(path);
  if (bytes.length < BYTES_MIN) continue;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
}
