/**
 * Goes on with a value that is there, or with that of a promise once it is: `then` for both. Awaiting a plain value would cost
 * each request a microtask.
 */
export function andThen<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
