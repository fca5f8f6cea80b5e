// Lets a socket read into memory of ours. Node has that, but only for sockets that one opens oneself, and it
// opens the pipes of a child itself. Where a version of Node lacks it, reading goes on with streams.
import type { Readable } from 'node:stream';
import { pipeHandle } from '../../../os/pipe-writes.ts';

/** Where a socket puts what it reads: `room` before a read, `took` after it. */
export interface ReadMemory {
  readonly room: () => Uint8Array;
  readonly took: (bytes: number) => void;
}

/** As the option `onread` of a socket. */
export function readInto(source: Readable, memory: ReadMemory): void {
  const handle = pipeHandle(source);
  const [buffer, callback, next] = ['kBuffer', 'kBufferCb', 'kBufferGen'].map((name) =>
    Object.getOwnPropertySymbols(source).find(({ description }) => description === name),
  );
  if (typeof handle?.useUserBuffer !== 'function') return;
  if (buffer === undefined || callback === undefined || next === undefined) return;
  const room = memory.room();
  Reflect.set(source, buffer, room);
  Reflect.set(source, callback, memory.took);
  Reflect.set(source, next, memory.room);
  handle.useUserBuffer(room);
}
