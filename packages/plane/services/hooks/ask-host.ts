// How a hook that is a process asks: it loads nothing but this. Whatever goes wrong is a text, and then nothing may run.
import { connect } from 'node:net';

export interface AskedHook {
  readonly socketPath: string;
  readonly client: string;
  /** The process that has started the hook. */
  readonly ppid: number;
  readonly body: Buffer;
  readonly timeoutMs: number;
}

export interface AskedReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: 0 | 2;
}

/** `nobody` listens there; nothing has been asked. */
export type AskOutcome = AskedReply | 'nobody' | { readonly problem: string };

const REPLY_BYTES_MAX = 64 * 1_048_576;

export function askHost(hook: AskedHook): Promise<AskOutcome> {
  const { socketPath, client, ppid, body, timeoutMs } = hook;
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    let isConnected = false;
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    const late = setTimeout(() => finish({ problem: 'there was no answer in time' }), timeoutMs);
    const finish = (outcome: AskOutcome): void => {
      clearTimeout(late);
      socket.destroy();
      resolve(outcome);
    };
    socket.once('connect', () => {
      isConnected = true;
      socket.write(`${JSON.stringify({ v: 1, client, ppid })}\n`);
      socket.end(body);
    });
    socket.on('data', (chunk: Buffer) => {
      parts.push(chunk);
      length += chunk.length;
      if (length > REPLY_BYTES_MAX) finish({ problem: 'the answer has no end' });
    });
    socket.once('end', () => finish(readReply(Buffer.concat(parts).toString('utf8'))));
    socket.once('error', ({ message }) => {
      finish(isConnected ? { problem: `the answer was cut off (${message})` } : 'nobody');
    });
  });
}

function readReply(text: string): AskOutcome {
  try {
    const reply: unknown = JSON.parse(text);
    if (isReply(reply)) return reply;
  } catch {
    // It was cut off.
  }
  return { problem: 'the answer was cut off' };
}

function isReply(value: unknown): value is AskedReply {
  if (typeof value !== 'object' || value === null) return false;
  const { stdout, stderr, exitCode }: { readonly [key: string]: unknown } = { ...value };
  const isText = typeof stdout === 'string' && typeof stderr === 'string';
  return isText && (exitCode === 0 || exitCode === 2);
}
