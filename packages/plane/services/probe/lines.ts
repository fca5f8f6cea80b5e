// Lines out of chunks, with an end to how long one may be and to how much there may be of them.

export interface Lines {
  /** The whole lines of it; undefined when it is more than is taken. */
  feed(chunk: Buffer): readonly string[] | undefined;
}

const NEWLINE = 0x0a;

export function createLines(limits: {
  readonly lineBytesMax: number;
  readonly bytesMax: number;
}): Lines {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let total = 0;
  return {
    feed(chunk) {
      total += chunk.length;
      if (total > limits.bytesMax) return undefined;
      const lines: string[] = [];
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        lines.push(Buffer.concat([...parts, chunk.subarray(from, at)]).toString('utf8'));
        parts = [];
        partBytes = 0;
        from = at + 1;
      }
      const rest = chunk.subarray(from);
      partBytes += rest.length;
      if (partBytes > limits.lineBytesMax) return undefined;
      if (rest.length > 0) parts.push(rest);
      return lines;
    },
  };
}
