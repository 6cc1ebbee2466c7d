// npm run bench
//
// Measures the service beside baselines in one run, on the embedded PostgreSQL or on that of --server, and prints what came of
// it. See options.mjs.
import { Bench } from './bench.mjs';
import { versionOf } from './baselines/programs.mjs';
import { compareBuilds } from './compare-builds.mjs';
import { machineLines } from './measure/machine.mjs';
import { readOptions } from './options.mjs';
import { sectionOf, writeResults } from './report.mjs';
import { SCENARIOS } from './scenarios.mjs';
import { soak } from './soak.mjs';
import { externalServer, startServer } from './stage/server.mjs';

const options = readOptions(process.argv.slice(2));
if (options !== undefined) await main(options);

async function main({ folder, server: url, soak: soakSeconds, workers, ab, only, write }) {
  const server = url === undefined ? await startServer({ folder }) : externalServer(url);
  const bench = new Bench(server, options);
  try {
    await bench.open();
    if (soakSeconds !== undefined) await soak(bench, soakSeconds, { workers });
    else if (ab !== undefined) await compareBuilds(bench, ab, only);
    else await measure(bench, { only, write });
  } finally {
    await bench.close();
  }
}

async function measure(bench, { only, write }) {
  const version = (await bench.server.query('postgres', 'SHOW server_version')).rows[0].server_version;
  const machine = [
    ...machineLines(bench.server.dataDir, version),
    `baselines by ${await versionOf('pgbench')}, load on services by ${bench.options.load.name}`,
  ];
  say(`${machine.join('\n')}\n`);
  const sections = [];
  for (const scenario of SCENARIOS.filter(({ key, isOnRequest }) => only?.includes(key) ?? !isOnRequest)) {
    const section = sectionOf(scenario, await scenario.run(bench));
    sections.push(section);
    say(section);
  }
  const command = ['npm run bench', ...process.argv.slice(2).map((each, at) => (at === 0 ? `-- ${each}` : each))].join(
    ' ',
  );
  if (write) writeResults({ command, machine, sections, date: new Date().toISOString().slice(0, 10) });
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
