// node scripts/healthcheck.mjs: ends with 0 when the service in this container is alive, for the HEALTHCHECK of the Dockerfile.
/* global fetch */
import { setTimeout } from 'node:timers';

const TIMEOUT_MS = 2_500;

setTimeout(() => process.exit(1), TIMEOUT_MS).unref();
try {
  const { ok } = await fetch(`http://127.0.0.1:${process.env.PORT || '3000'}/health/live`);
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
