// Writes src/metadata.ts: what the Swagger plugin reads from DTO classes (types, comments, class-validator rules), for
// tsc, swc and Jest alike. Generated, not committed.
import { PluginMetadataGenerator } from '@nestjs/cli/lib/compiler/plugins/plugin-metadata-generator.js';
import { ReadonlyVisitor } from '@nestjs/swagger/plugin';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src');

// The generator type-checks the sources, which import the file that it is to write; an old one may name a class that is gone.
writeFileSync(join(source, 'metadata.ts'), 'export default async () => ({});\n');
new PluginMetadataGenerator().generate({
  visitors: [
    new ReadonlyVisitor({
      introspectComments: true,
      classValidatorShim: true,
      dtoFileNameSuffix: ['.dto.ts', '.query.ts'],
      pathToSource: source,
    }),
  ],
  outputDir: source,
  watch: false,
  tsconfigPath: 'tsconfig.build.json',
});
