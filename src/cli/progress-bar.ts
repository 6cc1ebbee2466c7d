import { Presets, SingleBar } from 'cli-progress';

/** A bar on a terminal; what `format` names beyond the bar's own words comes with each update. */
export function progressBar(stream: NodeJS.WriteStream, format: string): SingleBar {
  // Without wrapping, an interrupted program would leave the terminal in a mode that cuts lines off.
  return new SingleBar({ format, stream, barsize: 24, linewrap: true }, Presets.shades_classic);
}

/** How long the rest of the work takes at the rate so far, in words. */
export function timeLeft(done: number, rest: number, seconds: number): string {
  if (done <= 0) return '?';
  const left = Math.ceil((rest * seconds) / done);
  const [hours, minutes] = [Math.floor(left / 3_600), Math.floor(left / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${left % 60} s` : `${left} s`;
}
