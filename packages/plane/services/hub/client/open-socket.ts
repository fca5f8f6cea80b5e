// Opens a connection to the hub: a request over HTTP that asks to be upgraded to frames.
import { connect, type Socket } from 'node:net';
import { isObject } from '@subluminal/contracts';
import { HUB_CONNECTION } from '@subluminal/contracts/hub-frames';
import { visible } from '@subluminal/core/visible';
import type { Target } from './endpoint.ts';
import { type Unread, unread } from './unread.ts';

export const REASON_LENGTH_MAX = 300;
export const LATE = 'the hub did not answer in time';

interface OpeningOptions {
  readonly target: Target;
  readonly connectMs: number;
  /** How long all of it may take. */
  readonly totalMs: number;
}

export interface OpenedSocket {
  readonly socket: Socket;
  /** What has come after the answer to the upgrade. */
  readonly rest: Buffer;
}

/** An answer that refuses is short. */
const ANSWER_BYTES_MAX = 16_384;
const HEAD_END = '\r\n\r\n';
const SWITCHED = 101;
/** The process that listened has ended. */
const GONE_CODES: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);

/** Never rejects. */
export function openSocket({
  target,
  connectMs,
  totalMs,
}: OpeningOptions): Promise<OpenedSocket | Unread> {
  return new Promise((resolve) => {
    const socket = connect('socketPath' in target ? { path: target.socketPath } : target);
    let received: Buffer = Buffer.alloc(0);
    const settle = (opened: OpenedSocket | Unread): void => {
      clearTimeout(connecting);
      clearTimeout(total);
      socket.removeAllListeners();
      // Whoever takes it over listens for errors; one that comes in between must not end the process.
      socket.on('error', () => {});
      if ('ok' in opened) socket.destroy();
      resolve(opened);
    };
    const giveUp = (reason: string) => settle(unread(reason));
    const total = setTimeout(giveUp, totalMs, LATE).unref();
    const connecting = setTimeout(
      giveUp,
      connectMs,
      'the hub could not be reached in time',
    ).unref();
    socket.once('connect', () => {
      clearTimeout(connecting);
      socket.setNoDelay(true);
      socket.write(upgradeHead(target));
    });
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const at = received.indexOf(HEAD_END);
      if (at >= 0 && statusOf(received) === SWITCHED) {
        settle({ socket, rest: received.subarray(at + HEAD_END.length) });
      } else if (at >= 0 && received.length >= at + HEAD_END.length + lengthIn(received)) {
        settle(refusedBy(received));
      } else if (received.length > ANSWER_BYTES_MAX) giveUp('the answer of the hub is too long');
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isGone = GONE_CODES.has(error.code);
      settle(unread(`the hub cannot be reached (${error.code ?? 'error'})`, { isGone }));
    });
    socket.once('close', () => settle(refusedBy(received)));
  });
}

function upgradeHead(target: Target): string {
  const token = 'token' in target ? `Authorization: Bearer ${target.token}\r\n` : '';
  const host = 'token' in target ? `${target.host}:${target.port}` : 'localhost';
  return (
    `GET ${HUB_CONNECTION.path} HTTP/1.1\r\nHost: ${host}\r\n${token}` +
    `Connection: Upgrade\r\nUpgrade: ${HUB_CONNECTION.protocol}${HEAD_END}`
  );
}

/** 0 when it is no HTTP. */
function statusOf(head: Buffer): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(head.toString('latin1', 0, 16))?.[1] ?? 0);
}

function lengthIn(head: Buffer): number {
  return Number(
    /^content-length: (\d+)/im.exec(head.toString('latin1'))?.[1] ?? Number.POSITIVE_INFINITY,
  );
}

/** The hub has closed the connection, with an answer or without one. */
function refusedBy(received: Buffer): Unread {
  const status = statusOf(received);
  if (status === 0) return unread('the hub cannot be reached (ECONNRESET)');
  const body = received.subarray(received.indexOf(HEAD_END) + HEAD_END.length).toString('utf8');
  return unread(`the hub answered ${status}${errorIn(jsonIn(body))}`, { status });
}

export function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The message of an error answer, safe to print. */
export function errorIn(value: unknown): string {
  const error = isObject(value) ? value['error'] : undefined;
  const message = isObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? `: ${visible(message, REASON_LENGTH_MAX)}` : '';
}
