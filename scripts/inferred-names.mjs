import ts from 'typescript';

/**
 * Removes the calls by which esbuild's `keepNames` sets names of functions that have these names anyway: JavaScript names a
 * function by its declaration, variable or property. Only functions that esbuild has renamed need a call. A closure's call
 * runs each time that the closure is made: with them a single event costs an eighth more CPU (bench/NOTES.md).
 */
export function withInferredNames(bundle) {
  const source = ts.createSourceFile('bundle.js', bundle, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  /** Ranges of text that go, in their order. */
  const removed = [];
  const visit = (node) => {
    const call = namingCall(node);
    if (call !== undefined && isRedundant(call)) {
      const { target } = call;
      if (ts.isIdentifier(target)) removed.push([node.parent.getStart(), node.parent.end]);
      else removed.push([node.getStart(), target.getStart()], [target.end, node.end]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  removed.sort(([a], [b]) => a - b);
  let at = 0;
  const kept = removed.map(([from, to]) => {
    const text = bundle.slice(at, from);
    at = to;
    return text;
  });
  return [...kept, bundle.slice(at)].join('');
}

/** The function and the name of `__name(target, "name")`. */
function namingCall(node) {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression) || node.expression.text !== '__name') return;
  const [target, name] = node.arguments;
  return name !== undefined && ts.isStringLiteral(name) ? { node, target, name: name.text } : undefined;
}

function isRedundant({ node, target, name }) {
  // What esbuild writes behind a function declaration.
  if (ts.isIdentifier(target)) return target.text === name && ts.isExpressionStatement(node.parent);
  if (!ts.isArrowFunction(target) && !ts.isFunctionExpression(target)) return false;
  return target.name === undefined ? nameInferred(node) === name : target.name.text === name;
}

/** The name that an anonymous function gets at this place. */
function nameInferred(node) {
  const { parent } = node;
  const isValue = parent.initializer === node;
  if (isValue && (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent))) return textOf(parent.name);
  const isAssignment = ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssignment && parent.right === node && ts.isIdentifier(parent.left) ? parent.left.text : undefined;
}

/** `__proto__` as a property is no name. */
function textOf(name) {
  return (ts.isIdentifier(name) || ts.isStringLiteral(name)) && name.text !== '__proto__' ? name.text : undefined;
}
