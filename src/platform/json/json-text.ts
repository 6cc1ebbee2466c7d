/** What gives JSON text its structure; the text between is scalars and white space. */
const STRUCTURE = /["{}[\],]/g;

/** A bracket, brace or comma outside of strings; `inside` is how many containers are open after it. */
interface Mark {
  readonly sign: '{' | '}' | '[' | ']' | ',';
  readonly index: number;
}

/** The structure of JSON text, strings skipped; of text that is cut off, as far as it goes. */
function* marksOf(json: string): Generator<Mark> {
  // An expression of its own for each walk: two of them may be under way.
  const structure = new RegExp(STRUCTURE);
  for (let match = structure.exec(json); match !== null; match = structure.exec(json)) {
    if (match[0] === '"') structure.lastIndex = stringEnd(json, match.index);
    else yield { sign: match[0] as Mark['sign'], index: match.index };
  }
}

/** After the quote that closes the string which begins at `start`. */
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charAt(end - 1 - backslashes) === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}

/**
 * The texts of the entries of a list, as they were written: numbers that JSON.parse cannot keep stay what they are. `json` is
 * valid JSON text of an object; of two equal keys the last one counts, as for JSON.parse. Empty when there is no such list.
 * Linear in the text and without recursion.
 */
export function entryTexts(json: string, field: string): string[] {
  let texts: string[] = [];
  let depth = 0;
  // Where the entry, or the member of the object, begins that is being walked through.
  let start = 0;
  let isList = false;
  for (const { sign, index } of marksOf(json)) {
    const closes = sign === '}' || sign === ']';
    if (closes || sign === ',') {
      if (isList && depth === 2) pushText(texts, json.slice(start, index));
      if (closes) depth -= 1;
      if (depth === 1 && closes) isList = false;
      if (depth <= 2 && sign === ',') start = index + 1;
      continue;
    }
    depth += 1;
    if (depth === 2) {
      isList = sign === '[' && keyOf(json.slice(start, index)) === field;
      if (isList) texts = [];
    }
    if (depth === 1 || (depth === 2 && isList)) start = index + 1;
  }
  return texts;
}

function pushText(texts: string[], text: string): void {
  const entry = text.trim();
  if (entry !== '') texts.push(entry);
}

/** The key of a member of which the value is yet to come: `"items":`. */
function keyOf(member: string): unknown {
  return JSON.parse(member.slice(0, member.lastIndexOf(':')));
}

/**
 * What the beginning of a JSON text says: complete members and entries up to where it is cut off. Undefined when nothing is
 * complete.
 */
export function valueOfBeginning(text: string): unknown {
  const open: string[] = [];
  let complete: string | undefined;
  for (const { sign, index } of marksOf(text)) {
    if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? '}' : ']');
      complete = text.slice(0, index + 1) + closing(open);
    } else if (sign === ',') complete = text.slice(0, index) + closing(open);
    else open.pop();
  }
  return complete === undefined ? undefined : (JSON.parse(complete) as unknown);
}

function closing(open: readonly string[]): string {
  return open.toReversed().join('');
}
