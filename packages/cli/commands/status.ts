import type { Failure } from '@subluminal/contracts';
import {
  adoptionStatus,
  type HookStatus,
  hookStatus,
  type ServerView,
  type StatusFile,
  unseenText,
} from '@subluminal/plane/clients/setup';
import type { SecretBinding, Servers } from '@subluminal/plane/config';
import { startCheck } from '../adopt/can-start.ts';
import { type HeldPolicy, type PolicyOf, policyFinder, policyWords } from '../adopt/held-policy.ts';
import {
  type CalledServer,
  type DegradedRun,
  type LastCall,
  ledgerFacts,
} from '../adopt/ledger-facts.ts';
import {
  printLines,
  problemParts,
  serverLines,
  serverParts,
  stateWords,
  tellProblems,
} from '../adopt/lines.ts';
import { whereabouts } from '../adopt/wish.ts';
import { hookWords } from '../doctor/check-hooks.ts';
import { defineCommand, done, EXIT, orThrow, textOption } from '../input/command.ts';
import { changeLine } from '../surface/change-line.ts';
import type { Io } from '../terminal/io.ts';
import { ageText, harmless, harmlessLine, jsonText, plural, shortened } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Lists the configs of the agent clients of this user and project, and every other config that `sub import` has changed, with their servers: whether calls are governed and the server can start, by which policy, how many of its secrets come from the store, and the last call that was seen, with its client and run. Prints no value of any config except the command that starts `sub`.',
  options: {
    project: textOption('dir', 'The folder of the project (default: the current folder)'),
  },
  examples: ['sub status', 'sub status --json'],
  exitCodes: { 0: 'the status is printed', 2: 'wrong flags, or a ledger that cannot be read' },
  run: async ({ options }, io) => {
    const where = orThrow(await whereabouts(options.project));
    const own = { runtime: process.execPath, script: process.argv[1] };
    const { files, problems } = adoptionStatus({ ...where, own });
    const hooks = hookStatus({ ...where, own });
    const called = calledServers(files);
    const { lastCalls, changes, degraded } = orThrow(await ledgerFacts([...called.values()], io));
    const known = await factsOf(files, {
      lastCalls: new Map([...called].map(([server, key]) => [server, lastCalls.get(key)])),
      bound: where.bound,
      policyOf: await policyFinder(where),
    });
    if (options.json) {
      const clients = clientParts(files, hooks);
      const shown = documentOf(files, problems, known);
      const runs = degraded.map(degradedParts);
      const document = { ...shown, clients, definitions_changed: changes, degraded_runs: runs };
      io.out.write(jsonText(document));
      return done(EXIT.fine);
    }
    tellProblems(problems, io);
    for (const file of files) printFile(file, known, io);
    for (const change of changes) io.out.write(harmlessLine(changeLine(change)));
    for (const one of hooks) printHooks(one, io);
    for (const run of degraded) io.out.write(harmlessLine(degradedText(run)));
    const unseen = unseenText(files, hooks);
    if (unseen !== undefined) io.out.write(harmlessLine(unseen));
    if (files.length === 0 && hooks.length === 0) {
      io.out.write('No agent client has a config here.\n');
    }
    return done(EXIT.fine);
  },
});

const TOOL_LENGTH_MAX = 60;

/** Facts about a server that starts a shim. */
interface Facts {
  readonly held: HeldPolicy;
  readonly cannotStart: string | undefined;
  /** Why it could not start from here, where it may start elsewhere. */
  readonly faultHere: string | undefined;
  /** How many of its secrets come from the store of sub. */
  readonly secrets: number;
  readonly lastCall: LastCall | undefined;
}

type KnownFacts = ReadonlyMap<ServerView, Facts>;

interface FactSources {
  readonly lastCalls: ReadonlyMap<ServerView, LastCall | undefined>;
  readonly bound: Servers;
  readonly policyOf: PolicyOf;
}

/** Those that start a shim. */
function calledServers(files: readonly StatusFile[]): ReadonlyMap<ServerView, CalledServer> {
  const called = files.flatMap(({ servers, otherEventNames }) =>
    servers.flatMap((server) => {
      const { serverName: name } = server;
      return name === undefined ? [] : [[server, { name, otherEventNames }] as const];
    }),
  );
  return new Map(called);
}

async function factsOf(
  files: readonly StatusFile[],
  { lastCalls, bound, policyOf }: FactSources,
): Promise<KnownFacts> {
  const check = startCheck();
  const facts = new Map<ServerView, Facts>();
  for (const file of files) {
    for (const server of file.servers) {
      if (server.state !== 'governed' && server.state !== 'foreign') continue;
      const held = policyOf(server, file);
      const cannotStart = await check.faultOf(server, held);
      const here = held.source === 'start' ? held.here : null;
      const faultHere = here === null ? undefined : await check.policyFault(here);
      const name = server.serverName ?? '';
      const secrets = bound.get(name)?.secretBindings.filter(isInStore).length ?? 0;
      const lastCall = lastCalls.get(server);
      facts.set(server, { held, cannotStart, faultHere, secrets, lastCall });
    }
  }
  return facts;
}

function isInStore({ source, secretRef }: SecretBinding): boolean {
  return source === 'vault' && !secretRef.includes('://');
}

function documentOf(
  files: readonly StatusFile[],
  problems: readonly Failure[],
  known: KnownFacts,
): object {
  return {
    files: files.map(({ client, title, path, scope, isShared, change, wrapPid, servers }) => ({
      client,
      title,
      path,
      scope,
      shared: isShared,
      change,
      wrap_pid: wrapPid,
      servers: servers.map((server) => ({ ...serverParts(server), ...factParts(server, known) })),
    })),
    problems: problems.map(problemParts),
  };
}

function factParts(server: ServerView, known: KnownFacts): object {
  const own = known.get(server);
  if (own === undefined) return {};
  const { held, cannotStart, secrets, lastCall } = own;
  return {
    policy: held.path,
    policy_source: held.source,
    ...(held.found !== undefined && {
      policies: held.found.sources.map(({ path, role }) => ({ path, role })),
    }),
    ...(held.source === 'start' && { policy_from_here: held.here }),
    is_this_sub: server.state === 'governed',
    cannot_start: cannotStart ?? null,
    secrets_from_store: secrets,
    last_call_at: lastCall === undefined ? null : new Date(lastCall.atMs).toISOString(),
    last_call: lastCall === undefined ? null : callParts(lastCall),
  };
}

function callParts({ tool, runId, client, othersCount }: LastCall): object {
  return { tool, run_id: runId, client, other_servers: othersCount };
}

function printFile(file: StatusFile, known: KnownFacts, io: Io): void {
  const head = io.out.colors.bold(harmless(`${file.title}: ${file.path}${sessionWords(file)}`));
  const lines = serverLines(file.servers, (server) => wordsOf(server, known), io.out);
  printLines([head, ...(lines.length === 0 ? ['  no servers'] : lines)], io.out);
}

const MODEL_WORDS = 'model calls governed by `sub run --models` and `sub proxy` only';

function printHooks(status: HookStatus, io: Io): void {
  const { title, problems } = status;
  io.out.write(harmlessLine(`${title}: ${hookWords(status)}; ${MODEL_WORDS}`));
  for (const problem of problems) io.out.write(harmlessLine(`  ${problem}`));
}

function degradedText({ run_id, client, last_at_ms, degraded_reason }: DegradedRun): string {
  const age = ageText(Date.now() - last_at_ms);
  return `Warning: a run of ${client ?? 'unknown'}, ${age} ago: ${degraded_reason ?? ''} (sub show ${run_id})`;
}

function degradedParts({ run_id, client, last_at_ms, degraded_reason }: DegradedRun): object {
  const last_at = new Date(last_at_ms).toISOString();
  return { run_id, client, last_at, degraded_reason };
}

/** What of each client is governed. `session`: only in a run that is started so. */
function clientParts(
  files: readonly StatusFile[],
  hooks: readonly HookStatus[],
): readonly object[] {
  return hooks.map((status) => {
    const { client, title, version, state, paths, isManaged, problems, limits, sandbox } = status;
    const servers = files.filter((file) => file.client === client).flatMap((one) => one.servers);
    const governed = servers.filter((server) => server.state === 'governed');
    return {
      client,
      title,
      version: version ?? null,
      servers: { governed: governed.length, total: servers.length },
      native_tools: state,
      prompts: state,
      model_calls: 'session',
      hooks: { paths, managed: isManaged, problems, limits },
      sandbox:
        sandbox === undefined ? null : { path: sandbox.path, changed_since: sandbox.isChanged },
    };
  });
}

function sessionWords({ change, wrapPid }: StatusFile): string {
  if (wrapPid !== null) return `, rewritten by \`sub wrap\` (process ${wrapPid})`;
  return change === 'wrap' ? ', left rewritten by a `sub wrap`: `sub unwrap` puts it back' : '';
}

function wordsOf(server: ServerView, known: KnownFacts): string {
  const own = known.get(server);
  if (own === undefined) return stateWords(server);
  const { held, cannotStart, faultHere, secrets, lastCall } = own;
  // The other facts are known only to the other sub.
  if (server.state === 'foreign') {
    return `${stateWords(server)}${cannotStart === undefined ? '' : `, cannot start: ${cannotStart}`}`;
  }
  return [
    cannotStart === undefined ? 'governed' : `governed, but cannot start: ${cannotStart}`,
    ...originWords(server),
    policyWords(held, faultHere),
    ...(server.profile === 'development' ? ['development: nothing is refused'] : []),
    ...(server.events === undefined ? [] : [eventWords(server.events)]),
    ...(secrets === 0 ? [] : [`${plural(secrets, 'secret')} from the store`]),
    callWords(lastCall),
  ].join(', ');
}

/** A shim logs in with what `sub auth login` has got, and never asks itself. */
function originWords({ origin, serverName, hasCredential }: ServerView): readonly string[] {
  if (origin === undefined) return [];
  const login = `logs in by \`sub auth login ${serverName ?? ''}\``;
  return hasCredential === true ? [`at ${origin}`] : [`at ${origin}`, login];
}

function callWords(call: LastCall | undefined): string {
  if (call === undefined) return 'no call seen';
  const { tool, atMs, client, runId, othersCount } = call;
  const age = ageText(Date.now() - atMs);
  const others = plural(othersCount, 'other server');
  const doubt = othersCount === 0 ? '' : `, of this or ${others} of this name`;
  return `last call ${age} ago: ${shortened(tool, TOOL_LENGTH_MAX)} by ${client ?? 'unknown'} (run ${runId})${doubt}`;
}

function eventWords(events: string): string {
  return events === 'off' ? 'events off: nothing is recorded' : `events to ${events}`;
}
