// Which session of which agent a turn belongs to, and the repository that the agent works in.
import { createHash } from 'node:crypto';
import { isObject } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import { clientSession } from '../turns/turn-facts.ts';
import type { TurnRequest } from '../turns/types.ts';
import { type ClientTool, clientTool } from './client-tool.ts';
import type { PeerProcess } from './peer-process.ts';
import type { RepoFacts, RepoReader } from './repo-facts.ts';
import type { SessionFacts } from './session-runs.ts';

export interface TurnSession {
  readonly facts: SessionFacts;
  readonly tool: ClientTool;
  readonly repo: RepoFacts | undefined;
}

/** What `sub env` prints for clients that want a key. */
export const NOOP_KEY = 'sk-aicg-noop';
const SESSION_LENGTH_MAX = 128;
const METADATA_LENGTH_MAX = 16_384;

export async function turnSession(
  request: TurnRequest,
  { peer, repos }: { readonly peer: PeerProcess; readonly repos: RepoReader },
): Promise<TurnSession> {
  const tool = clientTool(request.headers);
  const folder = peer.cwd ?? codexFolder(request);
  const repo = folder === undefined ? undefined : await repos.read(folder);
  const sessionId = sessionIdOf(request, peer, repo);
  const { client, tool: agentId } = tool;
  const { hostRun } = peer;
  const runId = hostRun?.['SUB_RUN_ID'];
  const key = runId === undefined ? sessionId : `${sessionId} ${runId}`;
  const facts = { key, sessionId, client, agentId, repoRoot: repo?.root, hostRun };
  return { facts, tool, repo };
}

/** What the client calls it; else one for each process in each repository. */
function sessionIdOf(
  request: TurnRequest,
  { pid = 0, start = '' }: PeerProcess,
  repo: RepoFacts | undefined,
): string {
  const given = clientSession(request)?.slice(0, SESSION_LENGTH_MAX);
  if (given !== undefined && /^[\x21-\x7e]+$/.test(given)) return given;
  const agent = request.headers['user-agent'] ?? '';
  const text = `${pid}:${start}:${agent}:${repo?.root ?? ''}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Codex tells the folders that it works in. */
function codexFolder({ headers }: TurnRequest): string | undefined {
  const given = headers['x-codex-turn-metadata'];
  if (typeof given !== 'string' || given.length > METADATA_LENGTH_MAX) return undefined;
  const value = parseJson(given);
  const folders = isObject(value) && isObject(value['workspaces']) ? value['workspaces'] : {};
  return Object.keys(folders).find((folder) => folder.startsWith('/'));
}

/** What the client has for a key: its own, what `sub env` printed, or nothing. */
export function clientKey({ headers }: TurnRequest): 'own' | 'placeholder' | 'none' {
  const given = [headers['x-api-key'], headers.authorization].filter(
    (one) => typeof one === 'string',
  );
  if (given.some((one) => !one.includes(NOOP_KEY))) return 'own';
  return given.length === 0 ? 'none' : 'placeholder';
}
