// Something that takes connections as a hub does, and answers frames as a test likes; for tests only.
import type { Socket } from 'node:net';
import { isObject } from '@subluminal/contracts';
import { HUB_CONNECTION } from '@subluminal/contracts/hub-frames';
import { LineReader } from '../../../os/line-reader.ts';

const LINE_BYTES_MAX = 1_048_576;

export interface AskedFrame {
  readonly id: unknown;
  readonly to: unknown;
  readonly body: unknown;
}

/** Lets the connection through, and hands over each frame; what is written must be whole lines. */
export function asFrames(take: (frame: AskedFrame, socket: Socket) => void) {
  return (socket: Socket): void => {
    const lines = new LineReader(LINE_BYTES_MAX);
    let isOpen = false;
    let head = '';
    socket.on('data', (chunk: Buffer) => {
      if (!isOpen) {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        isOpen = true;
        const upgrade = `Connection: Upgrade\r\nUpgrade: ${HUB_CONNECTION.protocol}`;
        return void socket.write(`HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\n\r\n`);
      }
      lines.read(chunk, (line) => {
        const frame: unknown = JSON.parse(line ?? 'null');
        if (isObject(frame))
          take({ id: frame['id'], to: frame['to'], body: frame['body'] }, socket);
      });
    });
  };
}

/** Answers every frame with this; `body` is a text, as it may be no JSON. */
export function answering(status: number, body: string) {
  return asFrames(({ id }, socket) => {
    socket.write(`{"id":${String(id)},"status":${status},"body":${body}}\n`);
  });
}
