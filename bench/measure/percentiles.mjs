/** p50, p95 and p99 of samples in milliseconds. */
export function percentilesOf(samplesMs) {
  const sorted = Float64Array.from(samplesMs).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Of measurements with a rate, the one in the middle. */
export function medianByRate(measurements) {
  return measurements.toSorted((a, b) => a.rate - b.rate)[Math.floor(measurements.length / 2)];
}
