// One request to the daemon, on a connection of its own.
import { connect } from 'node:net';
import { LineReader } from './lines.ts';
import { CONTROL_HELLO, type Request, readObject } from './protocol.ts';

export interface Question {
  readonly socketPath: string;
  readonly request: Request;
  readonly timeoutMs: number;
  /** Wait for the end of the connection, too: the daemon keeps it until it is done. */
  readonly untilEnd?: boolean;
}

export type Reply =
  | { readonly kind: 'answer'; readonly value: { readonly [name: string]: unknown } }
  /** Nobody listens, or what listens is no ledger. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'timeout' };

const ANSWER_BYTES_MAX = 1024 * 1024;

export function ask({
  socketPath,
  request,
  timeoutMs,
  untilEnd = false,
}: Question): Promise<Reply> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const lines = new LineReader(ANSWER_BYTES_MAX);
    let answer: Reply = { kind: 'nobody' };
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    const finish = (reply: Reply) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reply);
    };
    socket.on('connect', () => {
      socket.write(`${JSON.stringify({ hello: CONTROL_HELLO })}\n${JSON.stringify(request)}\n`);
    });
    socket.on('data', (chunk: Buffer) => {
      lines.read(chunk, (line) => {
        const value = typeof line === 'string' ? readObject(line) : undefined;
        answer = value === undefined ? { kind: 'nobody' } : { kind: 'answer', value };
        if (!untilEnd) finish(answer);
      });
      if (lines.restLength > ANSWER_BYTES_MAX) finish({ kind: 'nobody' });
    });
    socket.on('error', () => finish(answer));
    socket.on('close', () => finish(answer));
  });
}
