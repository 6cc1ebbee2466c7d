/** How many bytes are held, in all and by workspace. Workspaces that hold none take no memory. */
export class BytesByWorkspace {
  private sum = 0;
  private readonly sums = new Map<string, number>();

  get total(): number {
    return this.sum;
  }

  of(tenantId: string): number {
    return this.sums.get(tenantId) ?? 0;
  }

  /** `bytes` is negative when they are given back. */
  add(tenantId: string, bytes: number): void {
    this.sum += bytes;
    const own = this.of(tenantId) + bytes;
    if (own > 0) this.sums.set(tenantId, own);
    else this.sums.delete(tenantId);
  }
}
