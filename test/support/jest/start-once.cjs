const { SwaggerModule } = require('@nestjs/swagger');
const { ModulesContainer } = require('@nestjs/core');
const { default: Ajv } = require('ajv/dist/core');
const { structuredClone } = globalThis;

/** What `createDocument` has answered, by the title and so on, and by the controllers that were described. */
const documents = new Map();
const numbers = new Map();
const { createDocument } = SwaggerModule;

/**
 * Describing 150 routes is a third of the start of an application, and the description follows from the controllers alone. So
 * it is made once in a Jest worker. Each application gets a copy, which it completes and enforces.
 */
SwaggerModule.createDocument = (app, config, options) => {
  const modules = [...app.get(ModulesContainer).values()];
  const controllers = modules.flatMap((module) => [...module.controllers.keys()].map(numberOf));
  const key = JSON.stringify([config, controllers.toSorted((a, b) => a - b)]);
  const known = documents.get(key) ?? createDocument.call(SwaggerModule, app, config, options);
  documents.set(key, known);
  return structuredClone(known);
};

function numberOf(controller) {
  if (!numbers.has(controller)) numbers.set(controller, numbers.size);
  return numbers.get(controller);
}

/** What each compiler of schemas has compiled, by the text of the schema. */
const validators = new WeakMap();
const { compile } = Ajv.prototype;

/**
 * The bodies of all routes are compiled at each start, always to the same validators, which their compiler never forgets. So
 * each is compiled once in a Jest worker. Contracts of event types have a compiler of their own each.
 */
Ajv.prototype.compile = function (schema, ...rest) {
  const ofThis = validators.get(this) ?? new Map();
  validators.set(this, ofThis);
  const text = JSON.stringify(schema);
  const known = ofThis.get(text) ?? compile.call(this, schema, ...rest);
  ofThis.set(text, known);
  return known;
};
