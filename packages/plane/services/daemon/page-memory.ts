// What outlives a daemon, so that an open page goes on with the next one: the secret of its sessions, and its port.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { attempt, parseJson, readPrivateFile, writePrivateFile } from '../../os/index.ts';

export interface PageMemory {
  readonly secret: string;
  /** Where the last daemon listened; 0 when that is unknown. */
  readonly port: number;
}

const FILE = 'page.json';
const BYTES_MAX = 4_096;
const SECRET = /^[\w-]{43}$/;
const SECRET_BYTES = 32;
const PORT_MAX = 65_535;

/** A file that others could have written or read is not believed: all sessions end. */
export function readPageMemory(home: string): PageMemory {
  const read = readPrivateFile(join(home, FILE), { bytesMax: BYTES_MAX, isSecret: true });
  const kept = read.kind === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  const { secret, port } = isObject(kept) ? kept : {};
  return {
    secret: typeof secret === 'string' && SECRET.test(secret) ? secret : newSecret(),
    port: typeof port === 'number' && Number.isInteger(port) && isPort(port) ? port : 0,
  };
}

/** Where it cannot be written, a restart ends the sessions. */
export function keepPageMemory(home: string, memory: PageMemory): void {
  attempt(() => writePrivateFile(join(home, FILE), `${JSON.stringify(memory)}\n`));
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function isPort(port: number): boolean {
  return port > 0 && port <= PORT_MAX;
}
