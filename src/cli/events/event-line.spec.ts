import { readLine, refusedLine, type Item } from './event-line';
import { LineSplitter } from './lines';

function read(content: string | Buffer) {
  const [line] = [
    ...new LineSplitter({ lines: 6, bytes: 0 }).push(Buffer.concat([Buffer.from(content), Buffer.from('\n')])),
  ];
  return readLine(line!);
}

function itemOf(content: string): Item {
  const line = read(content);
  if (line === 'blank' || !('item' in line)) throw new Error('It is no event.');
  return line.item;
}

function faultOf(content: string | Buffer) {
  const line = read(content);
  return line !== 'blank' && 'fault' in line ? JSON.parse(line.fault) : line;
}

const REFUSAL = {
  status: 'error',
  error_code: 'validation_failed',
  message: 'items[3].identity.type is required.',
  details: [{ path: 'items[3].identity.type', code: 'required', message: 'items[3].identity.type is required.' }],
} as const;

describe('readLine', () => {
  it('takes an event to the letter', () => {
    expect(itemOf(' {"n": 1.0, "big": 12345678901234567890} \r')).toMatchObject({
      line: 7,
      text: '{"n": 1.0, "big": 12345678901234567890}',
      bytes: 39,
    });
  });

  it.each(['', '   ', '\t\r'])('passes over %j', (content) => expect(read(content)).toBe('blank'));

  it('keeps what is no JSON as it came', () => {
    expect(faultOf('{"a":1},{"b":2}')).toMatchObject({
      line: 7,
      error_code: 'malformed_json',
      text: '{"a":1},{"b":2}',
    });
  });

  it('keeps the bytes of what is no UTF-8', () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    expect(faultOf(bytes)).toMatchObject({
      line: 7,
      error_code: 'invalid_utf8',
      text_base64: bytes.toString('base64'),
    });
  });

  it('refuses an event over 256 KiB, and shows how it begins', () => {
    const event = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;
    expect(itemOf(event(256 * 1024)).bytes).toBe(256 * 1024);
    const fault = faultOf(event(256 * 1024 + 1));
    expect(fault).toMatchObject({ line: 7, error_code: 'line_too_long' });
    expect(fault.start).toHaveLength(200);
  });

  it('takes JSON that is nested as deeply as it likes', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(itemOf(deep).text).toBe(deep);
    expect(itemOf(`{"line":1,"error_code":"x","event":${deep}}`).text).toBe(deep);
  });
});

describe('an errors file', () => {
  it('can be sent again: its lines are the events that they hold', () => {
    const event = '{"source":"s", "event":{"event":"}"}, "amounts":[1.0, 0.1234567890123456789, 1e-400]}';
    const written = refusedLine(itemOf(event), REFUSAL);
    expect(written).toContain(`"event":${event}}`);
    expect(JSON.parse(written)).toEqual({
      line: 7,
      error_code: 'validation_failed',
      message: 'identity.type is required.',
      details: [{ path: 'identity.type', code: 'required', message: 'identity.type is required.' }],
      event: JSON.parse(event),
    });
    expect(itemOf(written).text).toBe(event);
    const reordered = `{"event" : 7, "x":{"event":1}, "\\u0065vent" : ${event} ,"line":7,"error_code":"x"}`;
    expect(itemOf(reordered).text).toBe(event);
  });

  it('fails again where a line was not corrected', () => {
    const { fault } = read('no JSON') as { fault: string };
    expect(faultOf(fault)).toMatchObject({ error_code: 'no_event', text: fault });
  });
});
