/** Calls `next` synchronously unless `value` is a promise. Awaiting a plain value would cost each request a microtask. */
export function atOnce<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
