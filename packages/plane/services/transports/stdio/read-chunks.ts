// Reads a stream chunk by chunk, and can be held back. A socket reads into memory of the receiver, without the
// machinery of streams.
import type { Readable } from 'node:stream';
import { type ReadMemory, readInto } from './socket-memory.ts';

export interface ChunkHandlers {
  chunk(chunk: Buffer): void;
  /**
   * Where a socket reads into, instead of making chunks; once it has, no more chunks come. More may come
   * after `stop`: Node reads what a child has left in its pipe.
   */
  readonly memory?: ReadMemory;
  /** Called once, also when the stream broke. */
  end(cause?: Error): void;
}

export type ChunkReader = ReturnType<typeof readChunks>;

export function readChunks(source: Readable, on: ChunkHandlers) {
  let holds = 0;
  let isOver = false;
  let { memory } = on;
  const finish = (cause?: Error): void => {
    if (isOver) return;
    isOver = true;
    on.end(cause);
  };
  const useMemory = (): void => {
    // What the stream has read by itself comes first.
    if (memory === undefined || source.readableLength > 0) return;
    readInto(source, memory);
    memory = undefined;
  };
  const onData = (chunk: Buffer): void => {
    on.chunk(chunk);
    useMemory();
  };
  source.on('data', onData);
  source.once('end', () => finish());
  // A reset of the pipe is an end too: the other side is gone.
  source.on('error', finish);
  source.once('close', () => finish());
  useMemory();
  return {
    /** Stops reading until released as often as held: several writers may hold one reader. */
    hold(): void {
      if (++holds === 1) source.pause();
    },
    release(): void {
      if (holds === 0) throw new Error('released more often than held');
      if (--holds === 0 && !isOver) source.resume();
    },
    /** No more chunks and no end. */
    stop(): void {
      isOver = true;
      source.off('data', onData);
      source.pause();
    },
  };
}
