import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { BodyValidators } from '../../src/platform/http/body/body-validators';
import { NoteDto, type NotesApp, startNotesApp } from '../support/notes-app';

let notes: NotesApp;

beforeAll(async () => {
  notes = await startNotesApp();
});

afterAll(async () => {
  await notes.app.close();
});

const scalar = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const free = fc.dictionary(fc.string(), scalar);
const owner = fc.record({ name: fc.oneof(fc.string({ maxLength: 12 }), scalar), nme: scalar }, { requiredKeys: [] });
const body = fc.record(
  {
    source: fc.oneof(fc.stringMatching(/^[a-z]{1,3}$/), fc.stringMatching(/^[a-zA-Z]{0,3}$/), scalar),
    owner: fc.oneof(fc.record({ name: fc.string({ maxLength: 9 }) }), owner, scalar),
    count: fc.oneof(fc.integer({ min: -1, max: 3 }), scalar),
    tags: fc.oneof(fc.array(fc.string({ maxLength: 5 }), { maxLength: 4 }), fc.array(scalar, { maxLength: 4 }), scalar),
    attributes: fc.oneof(free, scalar),
    sorce: scalar,
  },
  { requiredKeys: [] },
);
const nearlyRight = fc.record(
  {
    source: fc.stringMatching(/^[a-z]{1,3}$/),
    owner: fc.record({ name: fc.string({ maxLength: 9 }) }),
    count: fc.integer({ min: 0, max: 9 }),
    tags: fc.oneof(fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }), fc.constant(null)),
    attributes: free,
  },
  { requiredKeys: ['source', 'owner'] },
);

it('takes and refuses the same bodies as class-validator with the same classes', () => {
  const check = notes.app.get(BodyValidators).for(NoteDto);
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(body, nearlyRight), (sent) => {
      const errors = validateSync(plainToInstance(NoteDto, sent), { whitelist: true, forbidNonWhitelisted: true });
      const { faults } = check(structuredClone(sent));
      if (faults === undefined) taken += 1;
      expect({ sent, refused: faults !== undefined }).toEqual({ sent, refused: errors.length > 0 });
    }),
    { numRuns: 3_000 },
  );
  // Neither side of the comparison may be nearly empty.
  expect(taken).toBeGreaterThan(100);
});
