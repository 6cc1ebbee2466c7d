import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { FROM_CONSOLE, type Browser } from './console';
import { until } from './until';

/** An open stream of live events, with what has come so far. */
export interface LiveStream {
  readonly items: any[];
  /** Events that were only counted. */
  notShown(): number;
  /** The reason of the last message; undefined while the stream is open. */
  ended(): string | undefined;
  /** Everything as it came. */
  text(): string;
  /** Waits until so many items have come; returns all that have. */
  received(items: number): Promise<any[]>;
  close(): void;
}

/** Opens live events as a page of the console does. Throws the answer when it is no stream. */
export async function openLive(browser: Browser, query = ''): Promise<LiveStream> {
  const response = await requestLive(browser, query);
  if (response.statusCode !== 200) throw new Error(await textOf(response));
  const [items, ends]: [any[], string[]] = [[], []];
  let [text, rest, notShown] = ['', '', 0];
  const take = (message: string): void => {
    const data = /^data: (.*)$/m.exec(message)?.[1];
    if (data === undefined) return;
    const value = JSON.parse(data);
    if (message.startsWith('event: end')) ends.push(value.reason);
    else {
      items.push(...value.items);
      notShown += Number(value.notShown);
    }
  };
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const messages = (rest + chunk).split('\n\n');
    rest = messages.pop() ?? '';
    messages.forEach(take);
  });
  await until(() => text.startsWith(': open'));
  return {
    items,
    notShown: () => notShown,
    ended: () => ends[0],
    text: () => text,
    received: async (count) => {
      await until(() => items.length >= count);
      return items;
    },
    close: () => void response.destroy(),
  };
}

/** The answer to a request for live events, on a connection of its own: `fetch` opens another one when a stream is given up. */
export async function requestLive(browser: Browser, query = ''): Promise<IncomingMessage> {
  const headers = { ...FROM_CONSOLE, cookie: browser.cookie ?? '' };
  const sent = request(`${browser.url}/console/api/live${query}`, { headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}
