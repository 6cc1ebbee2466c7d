import fc from 'fast-check';
import { BodyBytes } from './receive-body';

const chunks = fc.array(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  { maxLength: 20 },
);

describe('the bytes of a body', () => {
  it('are the chunks in their order, whatever the body could have become', () => {
    fc.assert(
      fc.property(chunks, fc.nat(2_000), (parts, room) => {
        const sent = Buffer.concat(parts);
        const body = new BodyBytes(sent.length + room);
        for (const part of parts) body.add(part);
        expect(body.length).toBe(sent.length);
        expect(body.head(64)).toEqual(sent.subarray(0, 64));
        expect(body.join()).toEqual(sent);
      }),
    );
  });

  it('count beyond the limit, and only their beginning is kept', () => {
    fc.assert(
      fc.property(chunks, fc.nat(100), (parts, bytesMax) => {
        const sent = Buffer.concat(parts);
        const body = new BodyBytes(bytesMax);
        for (const part of parts) body.add(part);
        expect(body.length).toBe(sent.length);
        const head = body.head(bytesMax);
        expect(head).toEqual(sent.subarray(0, bytesMax));
      }),
    );
  });

  it('take memory for the whole body only when a quarter of it is there', () => {
    const taken = jest.spyOn(Buffer, 'allocUnsafe');
    const body = new BodyBytes(4_000);
    for (let sent = 0; sent < 900; sent += 100) body.add(Buffer.alloc(100));
    expect(taken).not.toHaveBeenCalledWith(4_000);
    body.add(Buffer.alloc(100));
    expect(taken).toHaveBeenCalledWith(4_000);
    taken.mockRestore();
  });
});
