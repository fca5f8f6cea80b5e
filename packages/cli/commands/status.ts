import { findPolicy, loadConfig, userHome } from '@subluminal/plane/config';
import { adoptionStatus, type ServerView, type StatusFile } from '@subluminal/plane/main/adopt';
import { lastCalls } from '../adopt/last-calls.ts';
import { printLines, serverLines, stateWords, tellProblems } from '../adopt/lines.ts';
import { type Whereabouts, whereabouts } from '../adopt/wish.ts';
import type { StatusInput } from '../catalog/adopt.ts';
import { done, type Outcome } from '../command.ts';
import { ageText } from '../doctor/words.ts';
import { EXIT } from '../exit-codes.ts';
import { isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { harmless, jsonText } from '../text.ts';

async function run({ options }: StatusInput, io: Io): Promise<Outcome> {
  const where = await whereabouts(options.project);
  if (isFailure(where)) return where;
  const { files, problems } = adoptionStatus(where);
  const names = files.flatMap(({ servers }) => servers.flatMap((one) => one.serverName ?? []));
  const calls = await lastCalls(names, io);
  if (isFailure(calls)) return calls;
  const known: Known = { calls, policy: await policyHere(where), nowMs: Date.now() };
  if (options.json) {
    const told = problems.map(({ code, message, fix }) => ({ code, message, fix }));
    const parts = files.map((file) => ({
      ...file,
      servers: file.servers.map((server) => partsOf(server, known)),
    }));
    io.out.write(jsonText({ files: parts, problems: told }));
    return done(EXIT.fine);
  }
  tellProblems(problems, io);
  for (const file of files) printFile(file, known, io);
  if (files.length === 0) io.out.write('No agent client has a config here.\n');
  return done(EXIT.fine);
}

interface Known {
  readonly calls: ReadonlyMap<string, number>;
  /** What holds for servers that name none, if they run here. */
  readonly policy: string | null;
  readonly nowMs: number;
}

async function policyHere({ env, project, paths }: Whereabouts): Promise<string | null> {
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  const set = loaded.ok ? loaded.config['policy.path'] : null;
  if (set !== null) return set;
  const found = findPolicy({ cwd: project, home: paths.home, userHome: userHome(env) });
  return found.kind === 'found' ? found.path : null;
}

function partsOf(server: ServerView, { calls, policy }: Known): object {
  const { name, project, state, isDisabled, serverName, profile, wrapId } = server;
  const lastMs = serverName === undefined ? undefined : calls.get(serverName);
  return {
    name,
    ...(project !== undefined && { project }),
    state,
    disabled: isDisabled,
    ...(state === 'governed' && {
      server_name: serverName,
      policy: server.policy ?? policy,
      ...(profile !== undefined && { profile }),
      ...(wrapId !== undefined && { wrap_id: wrapId }),
      last_call_at: lastMs === undefined ? null : new Date(lastMs).toISOString(),
    }),
  };
}

function printFile(file: StatusFile, known: Known, io: Io): void {
  const session =
    file.wrapPid === null ? '' : `, rewritten by \`sub wrap\` (process ${file.wrapPid})`;
  const head = io.out.colors.bold(harmless(`${file.title}: ${file.path}${session}`));
  const lines = serverLines(file.servers, (server) => wordsOf(server, known));
  printLines([head, ...(lines.length === 0 ? ['  no servers'] : lines)], io.out);
}

function wordsOf(server: ServerView, { calls, policy, nowMs }: Known): string {
  if (server.state !== 'governed') return stateWords(server);
  const lastMs = server.serverName === undefined ? undefined : calls.get(server.serverName);
  const named = server.policy ?? policy;
  return [
    stateWords(server),
    named === null ? 'no policy: everything passes' : `policy ${named}`,
    ...(server.profile === 'development' ? ['development: nothing is refused'] : []),
    lastMs === undefined ? 'no call seen' : `last call ${ageText(nowMs - lastMs)} ago`,
  ].join(', ');
}

export { run };
