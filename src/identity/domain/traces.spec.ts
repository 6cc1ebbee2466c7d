import { tracesOf } from './traces';

describe('tracesOf', () => {
  it('searches short and common texts only as whole values', () => {
    const { quoted, within, digits } = tracesOf([
      { kind: 'EXTERNAL', value: 'Cust-7' },
      { kind: 'DEVICE', value: '42' },
    ]);
    expect(quoted).toEqual(['Cust-7', '42']);
    expect([within, digits]).toEqual([[], []]);
  });

  it('searches email addresses anywhere, and phone numbers with and without the country code', () => {
    const { quoted, within, digits } = tracesOf([
      { kind: 'EMAIL', value: 'jane@example.com' },
      { kind: 'PHONE', value: '+491701234512' },
    ]);
    expect(within).toEqual(['jane@example.com']);
    expect(digits).toEqual(['491701234512', '1701234512']);
    expect(quoted).toEqual([]);
  });

  it('contains the JSON spellings of a value', () => {
    expect(tracesOf([{ kind: 'EXTERNAL', value: 'Zoë "Z" 😀' }]).quoted).toEqual([
      'Zoë "Z" 😀',
      'Zoë \\"Z\\" 😀',
      'Zo\\u00eb \\"Z\\" \\ud83d\\ude00',
    ]);
  });
});
