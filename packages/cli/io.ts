// What a command may touch of the terminal. Commands get this instead of `process`.
import picocolors from 'picocolors';

type Colors = ReturnType<typeof picocolors.createColors>;

interface Output {
  readonly write: (text: string) => void;
  readonly colors: Colors;
  /** How wide the terminal is; without bounds where there is none, so that nothing is wrapped. */
  readonly columns: number;
}

interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Nobody has redirected the input: a person is expected to type. */
  readonly stdinIsTerminal: boolean;
}

interface ColorWish {
  readonly isTerminal: boolean;
  readonly noColorFlag: boolean;
  readonly env: { readonly [name: string]: string | undefined };
}

/** The flag weighs most, then NO_COLOR, then FORCE_COLOR, then whether there is a terminal. */
function wantsColor({ isTerminal, noColorFlag, env }: ColorWish): boolean {
  if (noColorFlag || (env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'] ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** The terminal that this process has. */
function processIo(noColorFlag: boolean): Io {
  const { stdout, stderr, stdin, env } = process;
  const output = (stream: NodeJS.WriteStream): Output => ({
    write: (text) => void stream.write(text),
    colors: picocolors.createColors(
      wantsColor({ isTerminal: stream.isTTY === true, noColorFlag, env }),
    ),
    columns: stream.columns ?? Number.POSITIVE_INFINITY,
  });
  return {
    out: output(stdout),
    err: output(stderr),
    stdin,
    stdinIsTerminal: stdin.isTTY === true,
  };
}

export type { Colors, Io, Output };
export { processIo, wantsColor };
