import { resolve } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { clientIds } from '@subluminal/plane/clients';
import {
  applyImport,
  type ImportFile,
  type ImportOptions,
  type ImportPlan,
  type PreparedMoves,
  planImport,
} from '@subluminal/plane/clients/setup';
import {
  diffLines,
  printLines,
  problemParts,
  serverLines,
  serverParts,
  stateWords,
  tellProblems,
} from '../adopt/lines.ts';
import {
  type MoveWish,
  offerMoves,
  secretLines,
  secretParts,
  storeMoves,
} from '../adopt/move-secrets.ts';
import { chosenClient, type Whereabouts, whereabouts } from '../adopt/wish.ts';
import {
  choice,
  defineCommand,
  done,
  EXIT,
  type Input,
  optional,
  orThrow,
  textOption,
  textsOption,
} from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import { PROFILE_DOC, PROFILES, YES_FLAG } from '../input/shared-options.ts';
import { asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

const ARGS = {
  client: optional(`The client: ${clientIds().join(', ')} (default: every client found)`),
};
const OPTIONS = {
  'dry-run': 'Print what would change, and change nothing',
  project: textOption('dir', 'The folder of the project (default: the current folder)'),
  server: textsOption('name', 'Only this server; can be repeated'),
  policy: textOption(
    'file',
    'The policy for these servers (default: found from the folder they run in)',
  ),
  profile: choice(PROFILES, PROFILE_DOC),
  'config-path': textOption('file', 'Use this config instead of those of the client'),
  'user-only': 'Skip files that belong to the project and are shared with others',
  'move-secrets': 'Move plain-text secrets from env into the encrypted store without asking',
  'keep-secrets': 'Leave plain-text secrets where they are, and do not offer to move them',
  yes: YES_FLAG,
};
type ImportInput = Input<typeof ARGS, typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Shows how the config of the client would change, asks, and makes each of its stdio servers start behind `sub shim`. Nothing else in the file changes, and `sub restore` reverts it byte for byte. Servers that are reached by URL are not governed yet. A server that is governed already stays so; --policy and --profile change its settings. On a terminal it offers to move plain-text secrets from the env of these servers into the store of `sub secrets`; --yes alone moves none.',
  args: ARGS,
  options: OPTIONS,
  examples: [
    'sub import',
    'sub import claude --dry-run',
    'sub import codex --policy policy.yaml --yes',
    'sub import custom --config-path mcp.json --server files',
    'sub import claude --move-secrets --yes',
  ],
  exitCodes: {
    0: 'the servers are imported, there was nothing to do, or you declined',
    2: 'wrong flags, no terminal to ask on, a config that cannot be read or changed, an unknown client or server, or secrets that cannot be moved',
  },
  requires: 'person',
  run: async (input, io) => {
    const wish = orThrow(await readWish(input, io));
    const plan = orThrow(await planImport(wish));
    orThrow(nothingThere(plan, wish));
    const { options } = input;
    const asks = asker(io, options.yes);
    const shown: Shown = { ...options, io, asks, files: [], applied: new Set(), hasFailed: false };
    shown.hasFailed = tellProblems(plan.problems, io);
    const warnings = [...plan.warnings, ...homeWarning(wish), ...(await policyWarning(plan, wish))];
    for (const warning of warnings) warn(io, warning);
    try {
      await offerAll(plan, wish, shown);
    } finally {
      await asks.close();
    }
    if (options.json) io.out.write(jsonText(documentOf(plan, shown)));
    else if (!shown.hasFailed && plan.files.every(({ isChanged }) => !isChanged)) {
      io.out.write('Nothing to do.\n');
    }
    return done(shown.hasFailed ? EXIT.usage : EXIT.fine);
  },
});

interface Shown extends MoveWish {
  readonly json: boolean;
  /** As they are planned in the end. */
  readonly files: ImportFile[];
  readonly applied: Set<ImportFile>;
  hasFailed: boolean;
}

type Wish = ImportOptions & Pick<Whereabouts, 'paths'>;

async function readWish({ args, options }: ImportInput, io: Io): Promise<Wish | Failure> {
  const where = orThrow(await whereabouts(options.project));
  if (options['move-secrets'] && options['keep-secrets']) {
    const message = '--move-secrets and --keep-secrets say the opposite.';
    return failure('SUB_USAGE', message, 'Leave out one of the two.');
  }
  const chosen = orThrow(await chosenClient(args.client, options['config-path'], where));
  const { client, configPath } = chosen;
  if (options['user-only'] && configPath !== undefined) {
    const message = '--user-only chooses among the files of a client.';
    return failure('SUB_USAGE', message, 'Leave out either that or --config-path.');
  }
  if (client?.id === 'custom' && configPath === undefined) {
    const message = 'where the config of a custom client is, only you know.';
    return failure('SUB_USAGE', message, 'Name it with --config-path.');
  }
  const policyPath = orThrow(await policyAt(options, io));
  return {
    ...where,
    client,
    configPath,
    servers: options.server,
    policyPath,
    profile: options.profile,
    isUserOnly: options['user-only'],
    own: { runtime: process.execPath, script: process.argv[1] },
  };
}

/** Absolute, because servers start in any folder; and fit for use, because they would not start. */
async function policyAt(
  { policy, profile }: ImportInput['options'],
  io: Io,
): Promise<string | undefined | Failure> {
  if (policy === undefined) return undefined;
  if (policy === STDIO || policy === '') {
    return failure('SUB_USAGE', '--policy must be a file.', 'Save the policy, and name its file.');
  }
  const { loadPolicy } = await import('../policy/load-policy.ts');
  const loaded = await loadPolicy(policy, { io, profile, isRegular: true });
  return isFailure(loaded) ? loaded : resolve(policy);
}

function nothingThere(plan: ImportPlan, { client }: ImportOptions): Failure | undefined {
  if (plan.files.length > 0 || plan.problems.length > 0) return undefined;
  if (client === undefined) {
    const message = 'no agent client has a config here.';
    return failure('SUB_CLIENT_CONFIG', message, 'Name one with --config-path.');
  }
  const message = `${client.title} has no config here. There is none of: ${plan.looked.join(', ')}.`;
  return failure('SUB_CLIENT_CONFIG', message, 'Name its config with --config-path.');
}

/** Clients rarely hand their environment on to their servers. */
function homeWarning({ env }: ImportOptions): readonly string[] {
  if (!env['SUB_HOME']) return [];
  return ['SUB_HOME is set: servers of a client that does not hand it on use ~/.subluminal.'];
}

/** Whoever finds a policy that is broken does not start. */
async function policyWarning(
  { files }: ImportPlan,
  { policyPath, env, project, paths }: Wish,
): Promise<readonly string[]> {
  if (policyPath !== undefined || files.every(({ chosen }) => chosen.length === 0)) return [];
  const { policyFinder } = await import('../adopt/held-policy.ts');
  const { startCheck } = await import('../adopt/can-start.ts');
  const policyOf = await policyFinder({ env, project, paths });
  const held = policyOf({ name: '', state: 'governed', isDisabled: false }, { project });
  const path = held.source === 'start' ? held.here : held.path;
  const fault = path === null ? undefined : await startCheck().policyFault(path);
  return fault === undefined
    ? []
    : [`servers that run in ${project} cannot start: ${fault}. See \`sub policy lint\`.`];
}

async function offerAll(
  { clients, files }: ImportPlan,
  wish: ImportOptions,
  shown: Shown,
): Promise<undefined> {
  for (const client of clients) {
    const own = files.filter((file) => file.client === client);
    await offer(own, wish, shown);
  }
  return undefined;
}

/** Shows the files of one client, asks, and changes them. */
async function offer(
  planned: readonly ImportFile[],
  wish: ImportOptions,
  shown: Shown,
): Promise<undefined> {
  const { io } = shown;
  const moving = orThrow(await offerMoves(planned, wish, shown));
  if (moving.kind === 'stopped') {
    shown.files.push(...planned);
    warn(io, 'nothing was changed.');
    return undefined;
  }
  const { files, moves } = moving;
  shown.files.push(...files);
  shown.hasFailed ||= moving.hasFailed;
  if (!shown.json) for (const file of files) printFile(file, io);
  for (const warning of new Set(files.flatMap((file) => file.warnings))) warn(io, warning);
  const open = files.filter(({ isChanged }) => isChanged);
  const [first] = open;
  if (first === undefined || shown['dry-run']) return undefined;
  const { title, id } = first.client;
  const text = `Change ${open.length === 1 ? 'this file' : 'these files'} of ${title}?`;
  const answer = orThrow(await shown.asks.ask(text));
  if (!answer) {
    warn(io, 'nothing was changed.');
    return undefined;
  }
  try {
    orThrow(await storeMoves(open, moves, { io, home: wish.paths.home }));
    await applyAll(open, moves, { wish, shown });
  } finally {
    moves?.end();
  }
  const applied = open.filter((file) => shown.applied.has(file));
  if (applied.length > 0 && !shown.json) printDone(applied, { id, title, wish, io });
  return undefined;
}

async function applyAll(
  files: readonly ImportFile[],
  moves: PreparedMoves | undefined,
  { wish, shown }: { readonly wish: ImportOptions; readonly shown: Shown },
): Promise<void> {
  const { io } = shown;
  for (const file of files) {
    const result = applyImport(file, wish);
    if (isFailure(result)) {
      await moves?.unbind(file.moves);
      shown.hasFailed = tellProblems([result], io);
      continue;
    }
    for (const warning of result.warnings) warn(io, warning);
    shown.applied.add(file);
  }
}

function printFile(file: ImportFile, io: Io): void {
  const [chosen, updated] = [new Set(file.chosen), new Set(file.updated)];
  const lines = serverLines(file.servers, (server) => {
    const { state, name } = server;
    if (state === 'loose' && chosen.has(name)) {
      return `to be governed, in place of a shim with ${(server.loose ?? []).join(', ')}`;
    }
    if ((state === 'open' || server.obstacle !== undefined) && chosen.has(name)) {
      return 'to be governed';
    }
    const words = stateWords(server);
    return state === 'governed' && updated.has(name) ? `${words}, to be started otherwise` : words;
  });
  const head = io.out.colors.bold(harmless(`${file.client.title}: ${file.path}`));
  const none = lines.length === 0 ? ['  no servers'] : lines;
  printLines([head, ...none, ...secretLines(file), ...diffLines(file.diff, io.out)], io.out);
}

interface DoneWords {
  readonly id: string;
  readonly title: string;
  readonly wish: ImportOptions;
  readonly io: Io;
}

function printDone(files: readonly ImportFile[], { id, title, wish, io }: DoneWords): void {
  const count = files.reduce((sum, { chosen }) => sum + chosen.length, 0);
  const undo = `sub restore ${id}${wish.configPath === undefined ? '' : ` --config-path ${quoted(wish.configPath)}`}`;
  const others = files.reduce((sum, { updated }) => sum + updated.length, 0);
  const moved = files.reduce((sum, { moves }) => sum + moves.length, 0);
  const parts = [
    ...(count > 0 ? [`${plural(count, 'server')} of ${title} ${isOrAre(count)} governed`] : []),
    ...(others > 0
      ? [`${plural(others, 'governed server')} ${isOrAre(others)} brought up to date`]
      : []),
    ...(moved > 0
      ? [`${plural(moved, 'secret')} ${moved === 1 ? 'comes' : 'come'} from the store`]
      : []),
  ];
  const words = `Done: ${parts.join(', ')} from the next start on. Undo it with: ${undo}`;
  io.out.write(`${harmless(words)}\n`);
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are';
}

/** For a command that is shown to be copied. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

function documentOf(plan: ImportPlan, { files, applied }: Shown): object {
  return {
    files: files.map((file) => ({
      client: file.client.id,
      path: file.path,
      servers: file.servers.map(serverParts),
      governs: file.chosen,
      updates: file.updated,
      secrets: secretParts(file),
      diff: file.diff,
      applied: applied.has(file),
      warnings: file.warnings,
    })),
    problems: plan.problems.map(problemParts),
    warnings: plan.warnings,
  };
}
