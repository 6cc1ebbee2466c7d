import { parsePurchases, purchaseId, readSample } from './cdnow';
import { totalsOf } from './tally';

describe('parsePurchases', () => {
  it('reads the columns of a purchase', () => {
    expect(parsePurchases(' 00004 0001 19970101  2   29.33\n')).toEqual([
      { customer: '0001', date: '1997-01-01', position: 1, quantity: 2, cents: 2933 },
    ]);
  });

  it('numbers the purchases of one customer and day, and of no one else', () => {
    const lines = [
      '1 0001 19970101 1 5.00',
      '2 0002 19970101 1 5.00',
      '1 0001 19970102 1 5.00',
      '1 0001 19970101 1 5.00',
    ];
    expect(parsePurchases(lines.join('\r\n')).map(purchaseId)).toEqual([
      '0001-19970101-1',
      '0002-19970101-1',
      '0001-19970102-1',
      '0001-19970101-2',
    ]);
  });

  it.each(['1 0001 19970101 2', '1 0001 19970101 2 29.3', '1 0001 19970101 2 -1.00', '1 0001 1997-01-01 2 29.33', 'x'])(
    'names the line of %j, which is no purchase',
    (line) => {
      expect(() => parsePurchases(`1 0001 19970101 2 29.33\n\n${line}\n`)).toThrow('Line 3 ');
    },
  );
});

describe('the CDNOW sample', () => {
  const purchases = readSample();
  const totals = totalsOf(purchases);

  it('comes to the figures of its README', () => {
    expect(totals).toMatchObject({ purchases: 6_919, customers: 2_357, cds: 16_479, cents: 24_409_194 });
    const months = [...totals.centsByMonth].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(months).toHaveLength(18);
    expect(months[0]).toEqual(['1997-01', 2_859_270]);
    expect(months[17]).toEqual(['1998-06', 559_087]);
    expect(months.reduce((sum, [, cents]) => sum + cents, 0)).toBe(totals.cents);
  });

  it('has an id of its own for every purchase', () => {
    expect(new Set(purchases.map(purchaseId)).size).toBe(purchases.length);
    expect(purchaseId(purchases[0]!)).toBe('0001-19970101-1');
  });
});
