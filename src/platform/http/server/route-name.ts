const names = new Map<string, string>();

/**
 * A route of Express's router as the OpenAPI document writes it: `/v1/campaigns/{campaign_id}/variables:define`. There are as
 * many as there are routes, so each is worked out once.
 */
export function routeName(path: string): string {
  const known = names.get(path);
  if (known !== undefined) return known;
  const name = path.replaceAll(/(?<!\\):(\w+)/g, '{$1}').replaceAll('\\', '');
  names.set(path, name);
  return name;
}
