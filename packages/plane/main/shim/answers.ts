// Lines of our own for the agent. None may land inside of a long line that the server is sending.
import type { ChunkReader, ChunkWriter } from '../../stdio/index.ts';

interface Answers {
  write(text: string): void;
  /** From now on they wait while a long line is under way, and so does who asks for more. */
  yieldTo(stream: { readonly isStreaming: boolean }, source: ChunkReader): void;
  /** The long line is over. */
  flush(): void;
}

function createAnswers(toAgent: ChunkWriter): Answers {
  const waiting: Buffer[] = [];
  let stream: { readonly isStreaming: boolean } | undefined;
  let source: ChunkReader | undefined;
  return {
    write(text) {
      const line = Buffer.from(text);
      if (stream?.isStreaming !== true) return toAgent.write(line);
      if (waiting.push(line) === 1) source?.hold();
    },
    yieldTo(busy, asking) {
      stream = busy;
      source = asking;
    },
    flush() {
      if (waiting.length === 0) return;
      for (const line of waiting.splice(0)) toAgent.write(line);
      source?.release();
    },
  };
}

export type { Answers };
export { createAnswers };
