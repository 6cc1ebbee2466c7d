/** JSON as it is written, with what objects of JavaScript cannot hold: one key twice, and any text for a value. */
export type Tree =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Tree])[] }
  | { readonly kind: 'array'; readonly items: readonly Tree[] }
  /** As it stands, JSON or not. */
  | { readonly kind: 'text'; readonly text: string };

export function textOf(tree: Tree): string {
  switch (tree.kind) {
    case 'object':
      return `{${tree.entries.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
    case 'array':
      return `[${tree.items.map(textOf).join(',')}]`;
    case 'text':
      return tree.text;
  }
}

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return { kind: 'text', text: JSON.stringify(value) };
  return { kind: 'object', entries: Object.entries(value).map(([key, inner]) => [key, treeOf(inner)] as const) };
}

/** How many places there are: the tree itself and every value in it. */
export function placesIn(tree: Tree): number {
  if (tree.kind === 'text') return 1;
  const inner = tree.kind === 'object' ? tree.entries.map(([, value]) => value) : tree.items;
  return inner.reduce((sum, value) => sum + placesIn(value), 1);
}

/** The tree with another value at a place, counted from the top; undefined takes the value away. */
export function changedAt(tree: Tree, place: number, change: (value: Tree) => Tree | undefined): Tree | undefined {
  if (place === 0) return change(tree);
  if (tree.kind === 'text') return tree;
  let left = place - 1;
  const inside = (value: Tree): Tree | undefined => {
    const places = placesIn(value);
    const isHere = left >= 0 && left < places;
    const changed = isHere ? changedAt(value, left, change) : value;
    left -= places;
    return changed;
  };
  if (tree.kind === 'array') {
    return { kind: 'array', items: tree.items.map(inside).filter((value) => value !== undefined) };
  }
  const entries = tree.entries.flatMap(([key, value]) => {
    const changed = inside(value);
    return changed === undefined ? [] : [[key, changed] as const];
  });
  return { kind: 'object', entries };
}
