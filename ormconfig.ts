import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { databaseOptions } from './src/platform/postgres/database-options';

/** For TypeORM's command line (`npm run migration -- migration:show`); it takes `DATABASE_URL`. */
export default new DataSource(
  databaseOptions({ url: process.env['DATABASE_URL'] ?? '' }, [join(__dirname, 'src/**/*.entity.js')]),
);
