/** A value that an OpenAPI schema allows: what is required, by its examples where it has some. */
export function sampleOf(document: any, schema: any): unknown {
  if (schema.$ref !== undefined) return sampleOf(document, resolved(document, schema.$ref));
  if (schema.example !== undefined) return schema.example;
  if (schema.enum !== undefined) return schema.enum[0];
  const [alternative] = schema.oneOf ?? schema.anyOf ?? schema.allOf ?? [];
  if (alternative !== undefined) return sampleOf(document, alternative);
  switch (schema.type) {
    case 'object': {
      const required: string[] = schema.required ?? [];
      return Object.fromEntries(required.map((name) => [name, sampleOf(document, schema.properties[name])]));
    }
    case 'array':
      return [sampleOf(document, schema.items)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-02T03:04:05Z' : 'x'.repeat(schema.minLength ?? 1);
  }
}

function resolved(document: any, reference: string): any {
  return reference
    .split('/')
    .slice(1)
    .reduce((value: any, name) => value[name], document);
}
