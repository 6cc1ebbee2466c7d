import { join } from 'node:path';
import { runNode } from '../support/run-node';

const SCRIPTS = join(__dirname, '..', '..', 'scripts');
/** As esbuild writes them: functions with the names that they have anyway, and those that it has renamed. */
const BUNDLE = `
  var __name = (target, name) => Object.defineProperty(target, "name", { value: "set: " + name, configurable: true });
  function declared() {} __name(declared, "declared");
  function declared2() {} __name(declared2, "declared");
  const variable = /* @__PURE__ */ __name(() => 1, "variable");
  const variable2 = /* @__PURE__ */ __name((a) => a + 1, "variable");
  let assigned; assigned = __name(async () => 1, "assigned");
  const object = { property: __name(() => __name(function own() {}, "own"), "property"), other: __name(() => 1, "renamed") };
  object.member = __name(() => 1, "member");
  class Classy { static { __name(this, "Classy"); } }
  const all = [declared, declared2, variable, variable2, assigned, object.property, object.property(), object.other, object.member, Classy];
  console.log(JSON.stringify(all.map(({ name }) => name)), variable2(1));`;

it('only calls that change a name of a function are left in the bundle', async () => {
  const { href } = new URL(`file://${join(SCRIPTS, 'inferred-names.mjs')}`);
  const shortened = await runNode(SCRIPTS, [
    '--input-type=module',
    '-e',
    `import { withInferredNames } from ${JSON.stringify(href)};
     process.stdout.write(withInferredNames(${JSON.stringify(BUNDLE)}));`,
  ]);
  const names = [
    ...['declared', 'set: declared', 'variable', 'set: variable', 'assigned'],
    ...['property', 'own', 'set: renamed', 'set: member', 'set: Classy'],
  ];
  expect(await runNode(SCRIPTS, ['-e', shortened])).toBe(`${JSON.stringify(names)} 2\n`);
});
