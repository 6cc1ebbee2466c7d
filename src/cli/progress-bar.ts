import { Presets, SingleBar } from 'cli-progress';

/** A bar on a terminal; what `format` names beyond the bar's own words comes with each update. */
export function progressBar(stream: NodeJS.WriteStream, format: string): SingleBar {
  // Without wrapping, an interrupted program would leave the terminal in a mode that cuts lines off.
  return new SingleBar({ format, stream, barsize: 24, linewrap: true }, Presets.shades_classic);
}
