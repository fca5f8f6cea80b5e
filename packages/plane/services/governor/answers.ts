// Lines of our own for the agent. None may land inside of a long line that the server is sending.
import type { ChunkReader, ChunkWriter } from '../transports/stdio/index.ts';

/** The long line that the server is sending. */
interface LongLine {
  readonly isStreaming: boolean;
  readonly bytesStreamed: number;
  breakOff(): void;
}

export interface Answers {
  write(text: string): void;
  /** From now on they wait while a long line is under way, and so does who asks for more. */
  yieldTo(line: LongLine, source: ChunkReader): void;
  /** The long line is over. */
  flush(): void;
}

const LOOK_MS = 1_000;
/** A line that does not go on for so long, or keeps us waiting for so long, is broken off. */
const STILL_MS = 5_000;
const WAIT_MS = 60_000;

export function createAnswers(toAgent: ChunkWriter): Answers {
  const waiting: Buffer[] = [];
  let line: LongLine | undefined;
  let source: ChunkReader | undefined;
  let timer: NodeJS.Timeout | undefined;
  const watch = (long: LongLine): NodeJS.Timeout => {
    let before = long.bytesStreamed;
    let stillMs = 0;
    let waitMs = 0;
    const look = (): void => {
      stillMs = long.bytesStreamed === before ? stillMs + LOOK_MS : 0;
      before = long.bytesStreamed;
      waitMs += LOOK_MS;
      if (stillMs >= STILL_MS || waitMs >= WAIT_MS) long.breakOff();
    };
    return setInterval(look, LOOK_MS).unref();
  };
  return {
    write(text) {
      const answer = Buffer.from(text);
      if (line?.isStreaming !== true) return toAgent.write(answer);
      if (waiting.push(answer) > 1) return;
      source?.hold();
      timer = watch(line);
    },
    yieldTo(long, asking) {
      line = long;
      source = asking;
    },
    flush() {
      clearInterval(timer);
      if (waiting.length === 0) return;
      for (const answer of waiting.splice(0)) toAgent.write(answer);
      source?.release();
    },
  };
}
