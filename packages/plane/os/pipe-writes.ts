// The pipes and sockets of Node below its streams: their handles, and writes that wait for nobody.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { hasSystemCode } from './system-error.ts';

interface PipeHandle {
  readonly fd?: number;
  readonly useUserBuffer?: (memory: Uint8Array) => void;
}

/** The handle of a pipe or a socket of the system. Terminals and files have none of this kind: they may block. */
export function pipeHandle(stream: Readable | Writable): PipeHandle | undefined {
  if (!(stream instanceof Socket)) return undefined;
  const handle: unknown = Reflect.get(stream, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  return handle.constructor.name === 'Pipe' ? handle : undefined;
}

/** The descriptor for `writeAtOnce`, if the stream has one. */
export function pipeFd(sink: Writable): number | undefined {
  const fd = pipeHandle(sink)?.fd;
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}

/** Whether nothing waits in the stream, which `writeAtOnce` would overtake. */
export function isIdle(sink: Writable): boolean {
  // The descriptor of a stream that is destroyed may be that of another file by now.
  return sink.writableLength === 0 && !sink.destroyed;
}

/**
 * How many of these bytes the kernel takes at once: all, some, or none when it is full. Undefined when
 * something is wrong: the stream, given the same bytes, meets the same fault and tells it.
 */
export function writeAtOnce(fd: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(fd, bytes);
  } catch (cause) {
    return hasSystemCode(cause, 'EAGAIN') ? 0 : undefined;
  }
}
