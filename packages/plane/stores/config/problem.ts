// What is wrong with the configuration, where, and how to mend it.

export type ConfigCode =
  | 'SUB_CONFIG_SYNTAX'
  | 'SUB_CONFIG_KEY'
  | 'SUB_CONFIG_VALUE'
  | 'SUB_FILE_READ'
  | 'SUB_FILE_UNSAFE'
  | 'SUB_HOME_UNSAFE'
  | 'SUB_FILE_WRITE';

export interface ConfigProblem {
  readonly code: ConfigCode;
  /** `PATH:LINE:COLUMN`, the name of a variable, `--FLAG`, or a path. */
  readonly where: string;
  readonly message: string;
  /** The likely fix, as an instruction. */
  readonly fix: string;
}

/** One line a person can act on and an editor can jump to. */
export function formatConfigProblem({ code, where, message, fix }: ConfigProblem): string {
  return `${where}: error: ${message}. ${fix} [${code}]`;
}

/** A value as it may stand in a message: short, on one line, without control characters. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const plain = text.replaceAll(/[\p{C}\p{Z}]/gu, ' ');
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}
