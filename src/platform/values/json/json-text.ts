/** A bracket, brace or comma outside of strings. */
type Sign = '{' | '}' | '[' | ']' | ',';

const QUOTE = 0x22;
const SIGNS: readonly (Sign | undefined)[] = Array.from({ length: 128 }, (_unused, code) => {
  const character = String.fromCharCode(code);
  return '{}[],'.includes(character) ? (character as Sign) : undefined;
});

/**
 * Shows the structure of JSON text to `visit`, strings skipped; of text that is cut off, as far as it goes. Linear, and without
 * an object for each mark: a hostile body has five million of them.
 */
function walk(json: string, visit: (sign: Sign, index: number) => void): void {
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = stringEnd(json, index) - 1;
    else {
      const sign = SIGNS[code];
      if (sign !== undefined) visit(sign, index);
    }
  }
}

/** After the quote that closes the string which begins at `start`. */
export function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charAt(end - 1 - backslashes) === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}

/** How deep objects and lists stand in one another; 0 for a text, a number and the like. */
export function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  walk(json, (sign) => {
    if (sign === '{' || sign === '[') deepest = Math.max(deepest, (depth += 1));
    else if (sign !== ',') depth -= 1;
  });
  return deepest;
}

/**
 * What the beginning of a JSON text says: complete members and entries up to where it is cut off. Undefined when nothing is
 * complete. Linear in the text, however deep it is and whatever stands in it.
 */
export function valueOfBeginning(text: string): unknown {
  // What closes each open container. Behind `depth` stands what was closed already; only the next opening mark overwrites it.
  const closing: string[] = [];
  let depth = 0;
  let completeTo = -1;
  let completeDepth = 0;
  walk(text, (sign, index) => {
    if (sign === '}' || sign === ']') {
      depth -= 1;
      return;
    }
    if (sign !== ',') {
      closing[depth] = sign === '{' ? '}' : ']';
      depth += 1;
    }
    completeTo = sign === ',' ? index : index + 1;
    completeDepth = depth;
  });
  if (completeTo === -1) return undefined;
  const complete = text.slice(0, completeTo) + closing.slice(0, completeDepth).reverse().join('');
  return JSON.parse(complete) as unknown;
}

/** A batch, its list, an event and its identity are four levels, and no reader looks deeper. */
export const READABLE_DEPTH_MAX = 8;

/**
 * The value of a JSON text, or what its beginning says where it is cut off; undefined where it is no JSON. What stands deeper
 * than 8 levels is left out: 256 KiB of brackets would become as many lists, which hold the event loop for a tenth of a second.
 */
export function readableValueOf(text: string): unknown {
  const shallow = upToDepth(text, READABLE_DEPTH_MAX);
  for (const read of [JSON.parse, valueOfBeginning]) {
    try {
      return read(shallow) as unknown;
    } catch {
      // It is no JSON to its end, or none at all.
    }
  }
  return undefined;
}

/** The text with empty objects and lists at this depth. */
function upToDepth(json: string, depthMax: number): string {
  let depth = 0;
  let kept = '';
  let from = 0;
  walk(json, (sign, index) => {
    if (sign === '{' || sign === '[') {
      depth += 1;
      if (depth === depthMax) kept += json.slice(from, index + 1);
    } else if (sign !== ',') {
      if (depth === depthMax) from = index;
      depth -= 1;
    }
  });
  return depth < depthMax ? kept + json.slice(from) : kept;
}
