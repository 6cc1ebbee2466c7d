import { tracesOf } from './traces';

describe('tracesOf', () => {
  it('looks for short and common texts only where they are a whole value', () => {
    const { quoted, within, digits } = tracesOf([
      { kind: 'EXTERNAL', value: 'Cust-7' },
      { kind: 'DEVICE', value: '42' },
    ]);
    expect(quoted).toEqual(['Cust-7', '42']);
    expect([within, digits]).toEqual([[], []]);
  });

  it('looks for email addresses anywhere, and for phone numbers with and without the code of the country', () => {
    const { quoted, within, digits } = tracesOf([
      { kind: 'EMAIL', value: 'jane@example.com' },
      { kind: 'PHONE', value: '+491701234512' },
    ]);
    expect(within).toEqual(['jane@example.com']);
    expect(digits).toEqual(['491701234512', '1701234512']);
    expect(quoted).toEqual([]);
  });

  it('knows how JSON may write a value', () => {
    expect(tracesOf([{ kind: 'EXTERNAL', value: 'Zoë "Z" 😀' }]).quoted).toEqual([
      'Zoë "Z" 😀',
      'Zoë \\"Z\\" 😀',
      'Zo\\u00eb \\"Z\\" \\ud83d\\ude00',
    ]);
  });
});
