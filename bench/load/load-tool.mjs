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
 * that it shares with what is measured, and else autocannon; or the tool that is named.
 */
export function loadTool(toolName = wrkVersion() === undefined ? 'autocannon' : 'wrk') {
  const tool = Object.hasOwn(TOOLS, toolName) ? TOOLS[toolName] : undefined;
  const version = tool?.version();
  if (version === undefined)
    throw new Error(`The load can be made by wrk, if it is on the PATH, or by autocannon: ${toolName}`);
  return { run: tool.run, name: `${toolName} ${version}` };
}

function wrkVersion() {
  return spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout?.split(' ')[1];
}

function autocannonVersion() {
  return createRequire(import.meta.url)('autocannon/package.json').version;
}
