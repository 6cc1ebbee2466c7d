/** Goes on with a value at once where there is nothing to wait for: a turn of waiting costs each request of a hot path. */
export function atOnce<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
