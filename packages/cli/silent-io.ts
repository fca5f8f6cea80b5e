// For those who want to know whether something works, not what is said about it.
import picocolors from 'picocolors';
import type { Io, Output } from './io.ts';

const NOWHERE: Output = {
  write: () => undefined,
  colors: picocolors.createColors(false),
  columns: 80,
  isTerminal: false,
};

export const SILENT: Io = {
  out: NOWHERE,
  err: NOWHERE,
  stdin: (async function* () {})(),
  stdinIsTerminal: false,
};
