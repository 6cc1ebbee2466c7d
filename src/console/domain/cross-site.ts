/** What a browser says of where a request comes from. */
export interface RequestOrigin {
  readonly method: string;
  /** `Sec-Fetch-Site`. Browsers send it over HTTPS and to loopback addresses, and no page can set it. */
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
  /** The host that the request was sent to. */
  readonly host: string | undefined;
  /** `X-CDS-Console`, which forms cannot send, nor pages of other origins without being allowed to. */
  readonly marker: string | undefined;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** `none`: somebody has typed the address. */
const READS_FROM: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * What shows that a request was not made by a page of the console (contract section 10); undefined when nothing does. Requests
 * that change something must prove where they come from. Those that read must not come from elsewhere.
 */
export function crossSiteSign(request: RequestOrigin): string | undefined {
  const { method, fetchSite, origin, marker } = request;
  const reads = READS.has(method);
  if (fetchSite !== undefined) {
    const comesFromHere = reads ? READS_FROM.has(fetchSite) : fetchSite === 'same-origin';
    if (!comesFromHere) return 'Sec-Fetch-Site must be same-origin.';
  } else if (origin === undefined ? !reads : !isOf(origin, request.host)) {
    return 'Without Sec-Fetch-Site, Origin must be the address of the console.';
  }
  return reads || marker === '1' ? undefined : 'Requests that change something need the header X-CDS-Console: 1.';
}

/** `null` is the origin of sandboxed pages, and of no host. */
function isOf(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // Both without the default port of the protocol.
  const address = `${protocol}//${host}`;
  return /^https?:$/.test(protocol) && URL.canParse(address) && new URL(address).host === originHost;
}
