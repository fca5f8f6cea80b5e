// The session of a `sub wrap`, for its shims. A config that it has rewritten names the session by
// `--wrap ID`; this file says which run that is, where its hub listens, and which process hosts it.
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import {
  attempt,
  errorText,
  isProcessAlive,
  ownerProblem,
  type ProcessIdentity,
  parseJson,
  readPrivateFile,
  type System,
  thisSystem,
  writePrivateFile,
} from '../../os/index.ts';
import { AGENT_FILE_BYTES_MAX } from '../identity/index.ts';
import { type RunEnv, runVariables, TOKEN_VAR } from './env-vars.ts';

export interface WrapFile {
  readonly id: string;
  /** The variables of the run. `SUB_RUN_ID` and its hub are needed. */
  readonly env: RunEnv;
  readonly owner: ProcessIdentity;
  /** Of a hub that listens on TCP. */
  readonly token?: string;
  /** Whether only descendants of the agent belong to the session: a window may have any parent. */
  readonly isClosed?: boolean;
}

export interface LiveWrap {
  readonly kind: 'live';
  readonly env: RunEnv;
  readonly owner: ProcessIdentity;
  readonly isClosed: boolean;
}

export type WrapSession =
  | LiveWrap
  /** There is no such session any more: its file is gone, or its owner is. */
  | { readonly kind: 'over' }
  /** Its file cannot be read: the session may have a policy that this shim does not know. */
  | { readonly kind: 'problem'; readonly message: string };

const WRAP_ID = /^[a-z0-9-]{1,64}$/;
const START = /^[A-Za-z0-9-]{1,64}$/;

/** Nothing else gets into a path. */
export function isWrapId(id: string): boolean {
  return WRAP_ID.test(id);
}

export function wrapFilePath(runDir: string, id: string): string {
  if (!isWrapId(id)) throw new Error('this is no id of a session');
  return join(runDir, `wrap-${id}.json`);
}

/** Writes the file, whole or not at all, into a folder that is private. Throws what the system says. */
export function writeWrapFile(runDir: string, file: WrapFile): string {
  const path = wrapFilePath(runDir, file.id);
  const text = textOf(file);
  if (Buffer.byteLength(text) > AGENT_FILE_BYTES_MAX) {
    throw new Error('the session has more to tell than a shim reads');
  }
  writePrivateFile(path, text);
  return path;
}

function textOf({ id, env, owner, token, isClosed = false }: WrapFile): string {
  const { pid, start, space } = owner;
  const { [TOKEN_VAR]: _secret, ...variables } = runVariables(env);
  const file = {
    wrap_id: id,
    run_id: env['SUB_RUN_ID'],
    owner: { pid, start, ...(space !== undefined && { space }) },
    env: variables,
    ...(token !== undefined && { token }),
    ...(isClosed && { closed: true }),
  };
  return `${JSON.stringify(file)}\n`;
}

/** Removes the file; that it is gone already is fine. */
export function removeWrapFile(runDir: string, id: string): void {
  rmSync(wrapFilePath(runDir, id), { force: true });
}

/** What the session with this id tells, if it still lives. */
export function readWrapFile(
  runDir: string,
  id: string,
  system: System = thisSystem(),
): WrapSession {
  if (!isWrapId(id)) {
    return problem('--wrap takes an id of 1 to 64 small letters, digits and dashes');
  }
  const path = wrapFilePath(runDir, id);
  try {
    const text = readPrivate(runDir, path);
    if (text === undefined) return { kind: 'over' };
    const read = readText(text, id);
    if (read === undefined) return problem(damaged(path));
    return isProcessAlive(read.owner, system) ? { kind: 'live', ...read } : { kind: 'over' };
  } catch (cause) {
    return problem(`${path}, which tells of the session, cannot be used (${errorText(cause)})`);
  }
}

/** The run of a session, also of one that is over; undefined when its file cannot be read. */
export function runOfWrap(runDir: string, id: string): string | undefined {
  const text = attempt(() => readPrivate(runDir, wrapFilePath(runDir, id)));
  return text === undefined ? undefined : readText(text, id)?.env['SUB_RUN_ID'];
}

/** Undefined without a file. Refuses a file that others can write, or could have written. */
function readPrivate(runDir: string, path: string): string | undefined {
  const folder = lstatSync(runDir, { throwIfNoEntry: false });
  if (folder === undefined) return undefined;
  if (!folder.isDirectory()) throw new Error('its folder is none');
  if (ownerProblem(folder) !== undefined) throw new Error('others can write to its folder');
  const read = readPrivateFile(path, { bytesMax: AGENT_FILE_BYTES_MAX, isSecret: true });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') throw new Error(`it ${read.why}`);
  return read.bytes.toString('utf8');
}

function readText(text: string, id: string): Omit<LiveWrap, 'kind'> | undefined {
  const value = parseJson(text);
  if (!isObject(value) || value['wrap_id'] !== id) return undefined;
  const { owner, env, token } = value;
  if (!isObject(owner) || !isObject(env) || typeof env['SUB_RUN_ID'] !== 'string') return undefined;
  // Every session has a hub: one that names none was not written by us.
  if (typeof env['SUB_GOVERNANCE_ENDPOINT'] !== 'string') return undefined;
  const { pid, start, space } = owner;
  if (space !== undefined && typeof space !== 'string') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof start !== 'string' || !START.test(start)) return undefined;
  if (token !== undefined && typeof token !== 'string') return undefined;
  const { [TOKEN_VAR]: _secret, ...words } = runVariables(env);
  return {
    owner: { pid, start, ...(space !== undefined && { space }) },
    env: token === undefined ? words : { ...words, [TOKEN_VAR]: token },
    isClosed: value['closed'] === true,
  };
}

function damaged(path: string): string {
  return `${path}, which tells of the session, is damaged. End the agent, run \`sub unwrap\` and start it again`;
}

function problem(message: string): WrapSession {
  return { kind: 'problem', message };
}
