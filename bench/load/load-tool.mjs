import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { loadByAutocannon } from './autocannon.mjs';
import { loadByWrk } from './wrk.mjs';

const TOOLS = {
  wrk: { run: loadByWrk, version: wrkVersion },
  autocannon: { run: loadByAutocannon, version: autocannonVersion },
};

/**
 * What makes the load: `run`, and its `name` and version. wrk where it is on the PATH, since it takes the least of the cores
 * that it shares with what is measured, and else autocannon; or what is `wanted`.
 */
export function loadTool(wanted = wrkVersion() === undefined ? 'autocannon' : 'wrk') {
  const tool = Object.hasOwn(TOOLS, wanted) ? TOOLS[wanted] : undefined;
  const version = tool?.version();
  if (version === undefined)
    throw new Error(`The load can be made by wrk, if it is on the PATH, or by autocannon: ${wanted}`);
  return { run: tool.run, name: `${wanted} ${version}` };
}

function wrkVersion() {
  return spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout?.split(' ')[1];
}

function autocannonVersion() {
  return createRequire(import.meta.url)('autocannon/package.json').version;
}
