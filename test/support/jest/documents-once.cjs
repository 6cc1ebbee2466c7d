const { SwaggerModule } = require('@nestjs/swagger');
const { ModulesContainer } = require('@nestjs/core');
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
