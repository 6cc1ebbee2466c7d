/** The numbers of `GET /metrics`, by name and labels as they are written: `cds_events_total{family="cdp",outcome="accepted"}`. */
export async function metricsOf(url: string, init: RequestInit = {}): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${url}/metrics`, init);
  if (response.status !== 200) throw new Error(`GET /metrics was answered ${response.status}`);
  return Object.fromEntries(
    linesOf(await response.text()).map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** The names in the text of `GET /metrics` that something can be asked of, with those of histograms. */
export function namesIn(text: string): Set<string> {
  const kinds = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return new Set(
    kinds.flatMap(([, name, kind]) =>
      kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => `${name}${part}`) : name!,
    ),
  );
}

/** What has been added between two looks, for the names that begin like this; what has not changed is left out. */
export function growth(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  start: string,
): Record<string, number> {
  const names = Object.keys(after).filter((name) => name.startsWith(start));
  const grown = names.map((name): [string, number] => [name, (after[name] ?? 0) - (before[name] ?? 0)]);
  return Object.fromEntries(grown.filter(([, by]) => by !== 0));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
