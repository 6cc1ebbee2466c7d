import { transactionShares } from './by-workspace';

const ITEMS = ['a1', 'b1', 'a2'];
const tenantOf = (item: string): string => item.slice(0, 1);

describe('the shares of transactions', () => {
  it('are all of the work together on one PostgreSQL', () => {
    expect(transactionShares({}, ITEMS, tenantOf)).toEqual([{ of: [], items: ITEMS }]);
  });

  it('are of one workspace each where transactions are, in the order of the work', () => {
    expect(transactionShares({ isOneWorkspace: true }, ITEMS, tenantOf)).toEqual([
      { of: [{ tenantId: 'a' }], items: ['a1', 'a2'] },
      { of: [{ tenantId: 'b' }], items: ['b1'] },
    ]);
  });

  it('are none without work', () => {
    expect(transactionShares({}, [], tenantOf)).toEqual([]);
  });
});
