const { createRequire } = require('node:module');

/** A package that Jest itself is made of, in the very version that it uses; `by` is the one that asks for it. */
function jestsOwn(name, by = '@jest/core') {
  const ofJest = createRequire(require.resolve('jest'));
  return createRequire(ofJest.resolve(by))(name);
}

module.exports = { jestsOwn };
