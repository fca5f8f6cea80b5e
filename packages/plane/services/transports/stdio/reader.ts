// Reads a stream chunk by chunk and can be held back by whoever can't take more.
import type { Readable } from 'node:stream';

export interface ChunkHandlers {
  chunk(chunk: Buffer): void;
  /** Called once, also when the stream broke. */
  end(cause?: Error): void;
}

export interface ChunkReader {
  /** Stops reading until released as often as held: several writers may hold one reader. */
  hold(): void;
  release(): void;
  /** No more chunks and no end. */
  stop(): void;
}

export function readChunks(source: Readable, on: ChunkHandlers): ChunkReader {
  let holds = 0;
  let isOver = false;
  const finish = (cause?: Error): void => {
    if (isOver) return;
    isOver = true;
    on.end(cause);
  };
  const onData = (chunk: Buffer): void => on.chunk(chunk);
  source.on('data', onData);
  source.once('end', () => finish());
  // A reset of the pipe is an end too: the other side is gone.
  source.on('error', finish);
  source.once('close', () => finish());
  return {
    hold() {
      if (++holds === 1) source.pause();
    },
    release() {
      if (holds === 0) throw new Error('released more often than held');
      if (--holds === 0 && !isOver) source.resume();
    },
    stop() {
      isOver = true;
      source.off('data', onData);
      source.pause();
    },
  };
}
