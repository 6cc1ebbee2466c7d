import type { ExecutionContext } from '@nestjs/common';

/**
 * Remembers what a guard has read of a route's decorators: they never change, and reading them anew costs as much as the
 * rest of the guard. There are as many entries as routes.
 */
export class RouteMemo<Value> {
  private readonly known = new Map<unknown, Map<unknown, Value>>();

  /** `read` gets what `Reflector.getAllAndOverride` wants: the handler and its class. */
  constructor(private readonly read: (targets: RouteTargets) => Value) {}

  of(context: ExecutionContext): Value {
    const handler = context.getHandler();
    const controller = context.getClass();
    const found = this.known.get(handler)?.get(controller);
    if (found !== undefined) return found;
    const value = this.read([handler, controller]);
    // A handler may be inherited by several controllers, each with decorators of its own.
    const ofHandler = this.known.get(handler) ?? new Map<unknown, Value>();
    this.known.set(handler, ofHandler.set(controller, value));
    return value;
  }
}

type RouteTargets = [ReturnType<ExecutionContext['getHandler']>, ReturnType<ExecutionContext['getClass']>];
