import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { startApp } from '../support/app';
import { namesIn } from '../support/metrics';

const ROOT = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const dashboard = JSON.parse(read('ops/grafana-dashboard.json'));
const { groups } = parse(read('ops/alerts.yaml'));
const rules: any[] = groups.flatMap((group: any) => group.rules);
const panels: any[] = dashboard.panels;
const expressions: string[] = [
  ...rules.map(({ expr }) => expr as string),
  // Grafana fills these in.
  ...panels.flatMap(({ targets }) => targets.map(({ expr }: any) => expr.replaceAll('$__rate_interval', '5m'))),
];

let metrics: string;
let names: ReadonlySet<string>;

beforeAll(async () => {
  const service = await startApp();
  metrics = await (await fetch(`${service.url}/metrics`)).text();
  names = namesIn(metrics);
  await service.stop();
});

/** The names of metrics in an expression; throws where it is not PromQL. */
function metricsIn(expression: string): string[] {
  const found: string[] = [];
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`Not PromQL at ${node.from}: ${expression}`);
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') {
        found.push(expression.slice(node.from, node.to));
      }
    },
  });
  return found;
}

describe('dashboard and alerts', () => {
  it('are looked at by a parser that finds metrics and mistakes', () => {
    expect(metricsIn('sum by (le) (rate(a_total{x="y"}[5m])) / b')).toEqual(['a_total', 'b']);
    expect(() => metricsIn('sum(rate(a_total[5m])')).toThrow(/Not PromQL/);
  });

  it('ask in PromQL for metrics that the service has, and for nothing else', () => {
    const asked = expressions.flatMap(metricsIn);
    expect(expressions.filter((expression) => metricsIn(expression).length === 0)).toEqual([]);
    // The one is Prometheus's own; the other is there with several processes (test/faults/worker-metrics.spec.ts).
    const others = ['up', 'cds_workers_missing'];
    expect([...new Set(asked)].filter((name) => !others.includes(name) && !names.has(name))).toEqual([]);
  });

  it('show every metric of the service itself', () => {
    const asked = new Set(expressions.flatMap(metricsIn).map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    const ours = [...metrics.matchAll(/^# TYPE (cds_\w+) /gm)].map(([, name]) => name!);
    expect(ours.length).toBeGreaterThan(15);
    expect(ours.filter((name) => !asked.has(name))).toEqual([]);
  });
});

describe('ops/alerts.yaml', () => {
  it('has an alert for an instance that does not answer, and for none at all, by the job that the documents name', () => {
    const expressionOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr;
    expect([expressionOf('CdsDown'), expressionOf('CdsAbsent')]).toEqual([
      'up{job="campaign-data-service"} == 0',
      'absent(cds_ready)',
    ]);
    expect(read('docs/operations.md')).toContain('job_name: campaign-data-service');
  });

  it('compares with an earlier time also where the counter was not there yet, because nothing had been counted', () => {
    const compared = rules.map(({ expr }) => expr as string).filter((expr) => expr.includes(' offset '));
    expect(compared).not.toEqual([]);
    expect(compared.filter((expr) => !/\(sum\([^()]*\([^()]* offset \w+\)\) or vector\(0\)\)/.test(expr))).toEqual([]);
  });

  it('has for each alert a name of its own, how bad it is, what it says, and a section of docs/operations.md', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule).toEqual({
        alert: expect.stringMatching(/^Cds[A-Z]\w+$/),
        expr: expect.stringMatching(/\S/),
        ...(rule.for === undefined ? {} : { for: expect.stringMatching(/^\d+[mh]$/) }),
        labels: { severity: expect.stringMatching(/^(?:page|ticket)$/) },
        annotations: { summary: expect.stringMatching(/\S/), description: expect.stringMatching(/\.$/) },
      });
      expect(read('docs/operations.md')).toContain(`\`${rule.alert}\``);
    }
  });
});

describe('docs/operations.md', () => {
  it('describes every metric of the service itself', () => {
    const ours = [...metrics.matchAll(/^# TYPE (cds_\w+) /gm)].map(([, name]) => name!);
    expect(ours.filter((name) => !read('docs/operations.md').includes(`\`${name}\``))).toEqual([]);
  });
});

describe('ops/grafana-dashboard.json', () => {
  it('has panels that do not lie on each other, each with a query of the chosen source', () => {
    const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(panels.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { targets, datasource } of panels) {
      expect(targets.length).toBeGreaterThan(0);
      expect(datasource.uid).toBe('${datasource}');
    }
  });
});
