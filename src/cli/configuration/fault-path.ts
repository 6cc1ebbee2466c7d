export type PathSegment = string | number;

/** A field, an index or a quoted name. */
const SEGMENT = /^(?:\.?([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/;

/** The steps of a fault's path: `ops[1].path`, `properties["odd key"].type`. Ends where the path was shortened. */
export function segmentsOf(path: string): readonly PathSegment[] {
  const segments: PathSegment[] = [];
  for (let rest = path; rest !== '';) {
    const found = SEGMENT.exec(rest);
    if (found === null) return segments;
    const [whole, name, index, quoted] = found;
    if (name !== undefined) segments.push(name);
    else if (index !== undefined) segments.push(Number(index));
    else segments.push(JSON.parse(quoted ?? '""') as string);
    rest = rest.slice(whole.length);
  }
  return segments;
}
