/** What the shell is told. Every command documents which of these it uses. */
export const EXIT = {
  fine: 0,
  findings: 1,
  usage: 2,
  internal: 70,
  /** 128 + SIGPIPE: the reader of the output has gone. */
  brokenPipe: 141,
} as const;
