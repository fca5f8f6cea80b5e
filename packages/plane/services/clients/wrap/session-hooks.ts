// The hooks of one session: on the command line of the agent, so that no file changes.
import { type Failure, isFailure } from '@subluminal/contracts';
import { versionOf } from '../hooks/client-version.ts';
import { homesIn } from '../hooks/hook-command.ts';
import { startsAgent } from '../hooks/hooked-line.ts';
import { hooksOf } from '../hooks/registry.ts';
import type { ClientHooks, HookedLine } from '../hooks/types.ts';
import { clientPlace } from '../inspect/adoption-place.ts';
import { type OwnCall, ownProgram } from '../inspect/own-program.ts';
import { clientStartedBy } from '../registry.ts';
import type { ClientId } from '../types.ts';

interface AgentStart {
  readonly command: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

/** The hooks that can be put on this command line; undefined where it starts no such client. */
function sessionClient(command: readonly string[]): ClientHooks | undefined {
  const client = startsAgent(command) ? clientStartedBy(command) : undefined;
  const hooks = client === undefined ? undefined : hooksOf(client.id);
  return hooks?.session === undefined ? undefined : hooks;
}

/** What has to be known before the run begins. */
interface SessionHooks {
  readonly client: ClientId;
  /** Where the hooks are answered comes with the run. */
  begin(told: HookAddress & AgentStart): HookedLine | Failure;
}

interface HookAddress {
  readonly http: { readonly url: string; readonly token: string };
  readonly socket: string;
}

/** A failure says what in the command line would take the hooks away, before anything has started. */
export function planSession(start: AgentStart, own: OwnCall): SessionHooks | Failure | undefined {
  const hooks = sessionClient(start.command);
  if (hooks === undefined) return undefined;
  const program = ownProgram(own);
  if (program.kind === 'failure') return program;
  const version = versionOf({ ...start, packageName: hooks.packageName });
  const begin: SessionHooks['begin'] = ({ http, socket, command, env, cwd }) => {
    const place = clientPlace({ env, project: cwd });
    const call = { program: program.words, homes: homesIn(place) };
    const line = hooks.session?.({ http, socket, call, command, place, version });
    return line ?? { command, env };
  };
  const tried = begin({ ...start, http: { url: 'http://127.0.0.1/', token: '' }, socket: '/' });
  return isFailure(tried) ? tried : { client: hooks.client, begin };
}
