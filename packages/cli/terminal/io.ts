// What a command may touch of the terminal. Commands get this instead of `process`.
import picocolors from 'picocolors';

export interface Colors extends ReturnType<typeof picocolors.createColors> {
  /** The terminal says that it has more than 16 colours. */
  readonly isTrueColor?: boolean;
}

export interface Output {
  readonly write: (text: string) => void;
  readonly colors: Colors;
  /**
   * How wide the terminal is, or COLUMNS where there is none; without bounds where neither says it,
   * so that nothing is wrapped.
   */
  readonly columns: number;
  /** A person is expected to read it. */
  readonly isTerminal: boolean;
}

export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The input is not redirected: a person is expected to type. */
  readonly stdinIsTerminal: boolean;
}

interface ColorSettings {
  readonly isTerminal: boolean;
  readonly noColorFlag: boolean;
  readonly env: { readonly [name: string]: string | undefined };
}

/** The flag weighs most, then NO_COLOR, then FORCE_COLOR, then whether there is a terminal. */
export function wantsColor({ isTerminal, noColorFlag, env }: ColorSettings): boolean {
  if (noColorFlag || (env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'] ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

const COLUMNS_MAX = 10_000;

/** What COLUMNS says; undefined when that is no width. */
export function columnsIn(env: ColorSettings['env']): number | undefined {
  const text = env['COLUMNS'] ?? '';
  const columns = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return columns >= 1 && columns <= COLUMNS_MAX ? columns : undefined;
}

/** The width that the terminal reports; 0 stands for an unknown one. */
export function knownColumns({
  columns,
}: {
  readonly columns?: number | undefined;
}): number | undefined {
  return columns === 0 ? undefined : columns;
}

/** The terminal that this process has. */
export function processIo(noColorFlag: boolean): Io {
  const { stdout, stderr, stdin, env } = process;
  const output = (stream: NodeJS.WriteStream): Output => ({
    write: (text) => void stream.write(text),
    colors: {
      ...picocolors.createColors(
        wantsColor({ isTerminal: stream.isTTY === true, noColorFlag, env }),
      ),
      isTrueColor: /^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? ''),
    },
    columns: knownColumns(stream) ?? columnsIn(env) ?? Number.POSITIVE_INFINITY,
    isTerminal: stream.isTTY === true,
  });
  return {
    out: output(stdout),
    err: output(stderr),
    stdin,
    stdinIsTerminal: stdin.isTTY === true,
  };
}

const NOWHERE: Output = {
  write: () => undefined,
  colors: picocolors.createColors(false),
  columns: 80,
  isTerminal: false,
};

/** For callers that need only the result of a command, not its output. */
export const SILENT: Io = {
  out: NOWHERE,
  err: NOWHERE,
  stdin: (async function* () {})(),
  stdinIsTerminal: false,
};
