import { parsePurchases, purchaseId } from './cdnow';
import type { EventResult } from '../../clients/typescript/src/client';
import type { Revenue } from './campaign';
import { report as reportOf, type Report, type Shown } from './report';
import type { Run } from './send-events';

const PURCHASES = parsePurchases(
  ['1 0001 19970101 2 0.10', '1 0001 19970101 1 0.20', '2 0002 19980630 3 1234.05', '3 0003 19980630 1 0.00'].join(
    '\n',
  ),
);
const accepted = (id: string): EventResult => ({ status: 'accepted', event_id: `event ${id}` });
const duplicate = (id: string): EventResult => ({ status: 'duplicate', original_event_id: `event ${id}` });
const failed = (id: string): EventResult => ({
  status: 'error',
  error_code: 'validation_failed',
  message: `no\u001b[2J ${id}`,
  details: [],
});

function aRun(answer: (id: string, index: number) => EventResult, repeatedRequests = 0): Run {
  const answered = PURCHASES.map((purchase, index) => ({ purchase, result: answer(purchaseId(purchase), index) }));
  return { answered, seconds: 0.5, repeatedRequests };
}

/** With a campaign that says what the file says, unless it says something else. */
function report(purchases: typeof PURCHASES, first: Run, second: Run, shown: Partial<Shown> = {}): Report {
  const revenue: Revenue = { dollars: 1234.35 };
  return reportOf(purchases, first, second, { revenues: [revenue, revenue], ...shown });
}

function cells(text: string, name: string): string[] | undefined {
  const rows = text.split('\n').map((line) => line.split('│').map((cell) => cell.trim()));
  return rows.find((row) => row[1] === name)?.slice(2, -1);
}

describe('report', () => {
  it('adds up what was answered, to the cent', () => {
    const { text, isRight } = report(PURCHASES, aRun(accepted), aRun(duplicate));
    expect(isRight).toBe(true);
    expect(cells(text, 'accepted')).toEqual(['4', '0', '']);
    expect(cells(text, 'duplicate')).toEqual(['0', '4', '']);
    expect(cells(text, 'events per second')).toEqual(['8', '8', '']);
    expect(cells(text, 'customers')).toEqual(['3', '3', '3']);
    expect(cells(text, 'CDs')).toEqual(['7', '7', '7']);
    expect(cells(text, 'dollars')).toEqual(['1,234.35', '1,234.35', '1,234.35']);
    expect(cells(text, '1997-01')).toEqual(['0.30', '0.30', '0.30']);
    expect(text).toContain('The runs agree');
    expect(text).not.toContain('there already');
  });

  it('says so when the service had all of it before', () => {
    const { text, isRight } = report(PURCHASES, aRun(duplicate), aRun(duplicate));
    expect(isRight).toBe(true);
    expect(cells(text, 'dollars')).toEqual(['1,234.35', '1,234.35', '1,234.35']);
    expect(text).toContain('The service had these events already');
  });

  it('says whether duplicates may come from lost answers', () => {
    const mixed = (id: string, index: number): EventResult => (index === 0 ? duplicate(id) : accepted(id));
    expect(report(PURCHASES, aRun(mixed), aRun(duplicate)).text).toContain('found 1 event there already; each');
    const { text, isRight } = report(PURCHASES, aRun(mixed, 2), aRun(duplicate));
    expect(isRight).toBe(true);
    expect(text).toContain('or from a request whose answer got lost');
    expect(text).toContain('2 requests had to be sent again.');
  });

  it.each<[string, (id: string, index: number) => EventResult]>([
    ['accepts an event again', (id, index) => (index === 2 ? accepted(id) : duplicate(id))],
    ['names another id', (id, index) => duplicate(index === 2 ? 'x' : id)],
  ])('is not satisfied when the second run %s', (_, answer) => {
    const { text, isRight } = report(PURCHASES, aRun(accepted), aRun(answer));
    expect(isRight).toBe(false);
    expect(text).toContain('THE RUNS DO NOT AGREE: for 1 event ');
  });

  it('counts an event once, and shows that two purchases became one', () => {
    const merged = (answer: (id: string) => EventResult) => (id: string, index: number) =>
      answer(index === 1 ? 'same' : index === 2 ? 'same' : id);
    const { text, isRight } = report(PURCHASES, aRun(merged(accepted)), aRun(merged(duplicate)));
    expect(isRight).toBe(false);
    expect(cells(text, 'purchases')).toEqual(['3', '3', '4']);
    expect(cells(text, 'dollars')).toEqual(['0.30', '0.30', '1,234.35']);
    expect(text).toContain('DOES NOT ADD UP TO THE FILE');
  });

  it('shows the first five errors, and nothing in them that steers a terminal', () => {
    const { text, isRight } = report(PURCHASES, aRun(failed), aRun(failed));
    expect(isRight).toBe(false);
    expect(cells(text, 'error')).toEqual(['4', '4', '']);
    expect(cells(text, 'dollars')).toEqual(['0.00', '0.00', '1,234.35']);
    expect(text).toContain(
      '8 errors, the first of them:\n  0001-19970101-1: validation_failed: no?[2J 0001-19970101-1\n',
    );
    expect(text.match(/validation_failed/g)).toHaveLength(5);
  });

  it('shows what the campaign has earned after each run, to the last digit', () => {
    const right = report(PURCHASES, aRun(accepted), aRun(duplicate));
    expect(cells(right.text, 'revenue of the campaign')).toEqual(['1,234.35', '1,234.35', '1,234.35']);
    expect(right.text).toContain('The reaction has added each purchase once');
    const revenues = [{ dollars: 1234.35 }, { dollars: 1234.3500000000001 }] as const;
    const wrong = report(PURCHASES, aRun(accepted), aRun(duplicate), { revenues });
    expect(wrong.isRight).toBe(false);
    expect(cells(wrong.text, 'revenue of the campaign')).toEqual(['1,234.35', '1,234.3500000000001', '1,234.35']);
    expect(wrong.text).toContain('THE CAMPAIGN DOES NOT ADD UP');
  });

  it.each([
    [true, 'Without'],
    [false, 'WITHOUT'],
  ])('says why the campaign says nothing, which may be harmless (%s)', (isHarmless, word) => {
    const silent = { reason: 'So it is.', isHarmless };
    const { text, isRight } = report(PURCHASES, aRun(accepted), aRun(duplicate), { revenues: [silent, silent] });
    expect(isRight).toBe(isHarmless);
    expect(cells(text, 'revenue of the campaign')).toEqual(['-', '-', '1,234.35']);
    expect(text).toContain(`${word} state.campaign.revenue of the campaign "cdnow-demo": So it is.`);
  });

  it('shows the counts of /metrics, where they can be read', () => {
    const counted = { received: 10_008, accepted: 5_004, duplicate: 5_000, rejected: 4 };
    const textWith = (shown: Partial<Shown>): string => report(PURCHASES, aRun(accepted), aRun(duplicate), shown).text;
    expect(textWith({ counted })).toContain(
      '/metrics, of all clients: 10,008 received = 5,004 accepted + 5,000 duplicate + 4 rejected.',
    );
    expect(textWith({ counted: { ...counted, received: 10_009 } })).toContain(
      '10,009 received (some still under way) against',
    );
    expect(textWith({})).not.toContain('/metrics');
  });
});
