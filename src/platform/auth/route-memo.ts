import type { ExecutionContext } from '@nestjs/common';

/**
 * Caches what a guard has read from a route's decorators. They never change, and reading them costs as much as the rest of
 * the guard. There is one entry per route.
 */
export class RouteMemo<Value> {
  private readonly known = new Map<unknown, Map<unknown, Value>>();

  /** `read` gets the arguments of `Reflector.getAllAndOverride`: the handler and its class. */
  constructor(private readonly read: (targets: RouteTargets) => Value) {}

  of(context: ExecutionContext): Value {
    const handler = context.getHandler();
    const controller = context.getClass();
    const found = this.known.get(handler)?.get(controller);
    if (found !== undefined) return found;
    const value = this.read([handler, controller]);
    // Several controllers may inherit one handler, each with its own decorators.
    const ofHandler = this.known.get(handler) ?? new Map<unknown, Value>();
    this.known.set(handler, ofHandler.set(controller, value));
    return value;
  }
}

type RouteTargets = [ReturnType<ExecutionContext['getHandler']>, ReturnType<ExecutionContext['getClass']>];
