// Whether a shim was started by the agent of a session: its config is there for every client that
// reads it meanwhile.
import { processInfo, type System, thisSystem } from '../../os/index.ts';
import type { WrapSession } from './wrap-file.ts';

type Env = { readonly [name: string]: string | undefined };
type Live = Extract<WrapSession, { readonly kind: 'live' }>;

const ANCESTORS_MAX = 64;

/** True as well where nobody can tell. */
export function isOfSession(env: Env, session: Live, system: System = thisSystem()): boolean {
  const { owner, isClosed } = session;
  const runId = session.env['SUB_RUN_ID'];
  // A client may hand on what an older run has told it; only the same one says something.
  if (!isClosed || env['SUB_RUN_ID'] === runId) return true;
  if (owner.space !== undefined && owner.space !== system.space?.()) return true;
  let info = processInfo(system.ppid, system);
  if (info === undefined) return true;
  for (let level = 0; level < ANCESTORS_MAX && info !== undefined; level++) {
    if (info.pid === owner.pid && info.start === owner.start) return true;
    // One whose parent has ended still has what the session told it.
    if (runIn(info.pid, system) === runId) return true;
    info = info.ppid > 0 ? processInfo(info.ppid, system) : undefined;
  }
  return false;
}

/** Linux alone tells what another process was started with. */
function runIn(pid: number, system: System): string | undefined {
  if (system.platform !== 'linux') return undefined;
  const environment = `\0${system.readFile(`/proc/${pid}/environ`) ?? ''}`;
  return /\0SUB_RUN_ID=([^\0]*)/.exec(environment)?.[1];
}
