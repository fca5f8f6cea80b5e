import { resolve } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { shellWord } from '@subluminal/core/visible';
import { clientIds } from '@subluminal/plane/clients';
import {
  applyImport,
  type ImportFile,
  type ImportOptions,
  type ImportPlan,
  type PreparedMoves,
  planImport,
  type ServerView,
  unseenText,
} from '@subluminal/plane/clients/setup';
import { sourceWarnings } from '@subluminal/plane/policy';
import {
  diffLines,
  printLines,
  problemParts,
  serverLines,
  serverParts,
  stateWords,
  tellProblems,
} from '../adopt/lines.ts';
import { offerMoves, secretLines, secretParts, storeMoves } from '../adopt/move-secrets.ts';
import { type CopyRemovalOptions, type NamedCopy, offerCopies } from '../adopt/other-copies.ts';
import { chosenClient, type Whereabouts, whereabouts } from '../adopt/wish.ts';
import {
  badUsage,
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
import { type Asker, asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, jsonText, plural } from '../terminal/text.ts';

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
  shared: 'Also change files of the project that git shares with others, such as .mcp.json',
  'user-only': 'Skip all files that belong to the project',
  'move-secrets': 'Move plain-text secrets from env into the encrypted store without asking',
  'remove-copies': 'Remove other copies of the config that hold a moved secret, without asking',
  'keep-secrets': 'Leave plain-text secrets where they are, and do not offer to move them',
  yes: YES_FLAG,
};
type ImportInput = Input<typeof ARGS, typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Shows how the config of the client would change, asks, and makes each of its stdio servers start behind `sub shim`. Nothing else in the file changes, and `sub restore` reverts it byte for byte. A file of the project that git shares with others stays as it is without --shared. Servers that are reached by URL are not governed yet. A server that is governed already stays so; --policy and --profile change its settings. On a terminal it offers to move plain-text secrets from the env of these servers into the store of `sub secrets`; --yes alone moves none.',
  args: ARGS,
  options: OPTIONS,
  examples: [
    'sub import',
    'sub import claude --dry-run',
    'sub import codex --policy policy.yaml --yes',
    'sub import custom --config-path mcp.json --server files',
    'sub import claude --move-secrets --yes',
    'sub import claude --shared',
  ],
  exitCodes: {
    0: 'the servers are imported, there was nothing to do, or you declined',
    2: 'wrong flags, no terminal to ask on, a config that cannot be read or changed, an unknown client or server, or secrets that cannot be moved',
  },
  requires: 'person',
  run: async (input, io) => {
    const asks = asker(io, input.options.yes);
    try {
      return done(await runImport(input, io, asks));
    } finally {
      await asks.close();
    }
  },
});

const UNSET = {
  ...{ 'dry-run': false, shared: false, 'user-only': false, yes: false, json: false },
  ...{ 'move-secrets': false, 'keep-secrets': false, 'remove-copies': false, server: [] },
  ...{ project: undefined, profile: undefined, 'config-path': undefined },
};

/** Imports every client found, as `sub import` does; `policy` where it has to be named. */
export function importServers(policy: string | undefined, io: Io, asks: Asker): Promise<number> {
  return runImport({ args: { client: '' }, options: { ...UNSET, policy } }, io, asks);
}

async function runImport(input: ImportInput, io: Io, asks: Asker): Promise<number> {
  const { options } = input;
  const asked = orThrow(await readWish(input, io));
  const first = orThrow(await planImport(asked));
  orThrow(nothingThere(first, asked.client));
  const lists = { files: [], applied: new Set<ImportFile>(), copies: [] };
  const state = { hasFailed: false, lacksPolicy: false };
  const shown: Shown = { ...options, io, asks, ...lists, ...state };
  shown.hasFailed = tellProblems(first.problems, io);
  const policyPath = asked.policyPath ?? (await policyToName(first, asked, shown));
  const wish = { ...asked, policyPath };
  const plan = policyPath === asked.policyPath ? first : orThrow(await planImport(wish));
  for (const warning of [...plan.warnings, ...homeWarning(wish), ...sharedText(plan)]) {
    warn(io, warning);
  }
  for (const client of plan.clients) {
    const own = plan.files.filter((file) => file.client === client);
    await offer(own, wish, shown);
  }
  if (options.json) io.out.write(jsonText(documentOf(plan, shown)));
  else if (!shown.hasFailed && shown.files.every(({ isChanged }) => !isChanged)) {
    io.out.write('Nothing to do.\n');
  }
  const unseen = unseenText(plan.files.map((file) => ({ ...file, client: file.client.id })));
  if (unseen !== undefined && !options.json) io.out.write(harmlessLine(unseen));
  if (shown.lacksPolicy && !options.json) io.out.write(harmlessLine(noPolicyText(wish.project)));
  return shown.hasFailed ? EXIT.usage : EXIT.fine;
}

interface Shown extends CopyRemovalOptions {
  readonly json: boolean;
  /** As they are planned in the end. */
  readonly files: ImportFile[];
  readonly applied: Set<ImportFile>;
  readonly copies: NamedCopy[];
  hasFailed: boolean;
  /** No policy is found, and nobody could be asked to write one. */
  lacksPolicy: boolean;
}

type Wish = ImportOptions & Pick<Whereabouts, 'paths'>;

async function readWish({ args, options }: ImportInput, io: Io): Promise<Wish | Failure> {
  const where = orThrow(await whereabouts(options.project));
  if (options['move-secrets'] && options['keep-secrets']) {
    const message = '--move-secrets and --keep-secrets say the opposite.';
    return badUsage(message, 'Leave out one of the two.');
  }
  if (options['remove-copies'] && options['keep-secrets']) {
    return badUsage('--remove-copies goes with secrets that move.', 'Leave out --keep-secrets.');
  }
  const chosen = orThrow(await chosenClient(args.client, options['config-path'], where));
  const { client, configPath } = chosen;
  if (options['user-only'] && configPath !== undefined) {
    const message = '--user-only chooses among the files of a client.';
    return badUsage(message, 'Leave out either that or --config-path.');
  }
  if (options['user-only'] && options.shared) {
    const message = '--user-only and --shared say the opposite.';
    return badUsage(message, 'Leave out one of the two.');
  }
  if (client?.id === 'custom' && configPath === undefined) {
    const message = 'where the config of a custom client is, only you know.';
    return badUsage(message, 'Name it with --config-path.');
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
    withShared: options.shared,
    own: { runtime: process.execPath, script: process.argv[1] },
  };
}

/** Absolute, because servers start in any folder; and usable, because they would not start else. */
async function policyAt({ policy, profile }: ImportInput['options'], io: Io) {
  if (policy === undefined) return undefined;
  if (policy === STDIO || policy === '') {
    return badUsage('--policy must be a file.', 'Save the policy, and name its file.');
  }
  const { loadPolicy } = await import('../policy/load-policy.ts');
  orThrow(await loadPolicy(policy, { io, profile, isRegular: true }));
  return resolve(policy);
}

function nothingThere(plan: ImportPlan, client: ImportOptions['client']): Failure | undefined {
  const { files, problems, shared, looked } = plan;
  if (files.length + problems.length + shared.length > 0) return undefined;
  const [message, fix] =
    client === undefined
      ? ['no agent client has a config here.', 'Name one with --config-path.']
      : [
          `${client.title} has no config here. There is none of: ${looked.join(', ')}.`,
          'Name its config with --config-path.',
        ];
  return failure('SUB_CLIENT_CONFIG', message, fix);
}

function noPolicyText(project: string): string {
  return `No policy is found from ${project}, so calls are only recorded. To write one: sub init`;
}

function sharedText({ shared }: ImportPlan): readonly string[] {
  if (shared.length === 0) return [];
  return [
    `not imported, because git shares them with others: ${shared.join(', ')}. Add --shared to import them.`,
  ];
}

/** Clients rarely hand their environment on to their servers. */
function homeWarning({ env }: ImportOptions): readonly string[] {
  if (!env['SUB_HOME']) return [];
  return ['SUB_HOME is set: servers of a client that does not hand it on use ~/.subluminal.'];
}

/**
 * A server that finds a broken policy does not start, and one that finds none only records; one that is
 * there and not used is named. Returns the path of a policy that was written here and that servers would
 * not find.
 */
async function policyToName(
  { files }: ImportPlan,
  wish: Wish,
  shown: Shown,
): Promise<string | undefined> {
  if (files.every(({ chosen }) => chosen.length === 0)) return undefined;
  const { io, asks, yes, json, 'dry-run': isDry } = shown;
  const { env, project, paths } = wish;
  const { policyFinder } = await import('../adopt/held-policy.ts');
  const { startCheck } = await import('../adopt/can-start.ts');
  const policyOf = await policyFinder({ env, project, paths });
  const held = policyOf({ name: '', state: 'governed', isDisabled: false }, { project });
  const path = held.source === 'start' ? held.here : held.path;
  if (path === null && held.found?.ignored !== undefined) {
    for (const warning of sourceWarnings(held.found)) warn(io, warning);
    return undefined;
  }
  if (path === null) {
    const { offerStarter } = await import('../init/offer-starter.ts');
    const canAsk = io.stdinIsTerminal && io.err.isTerminal && !yes && !json && !isDry;
    const clients = [...new Set(files.map(({ client }) => client.title))];
    shown.lacksPolicy = !canAsk;
    return canAsk ? offerStarter({ where: wish, clients, io, asks }) : undefined;
  }
  const fault = await startCheck().policyFault(path);
  if (fault !== undefined) {
    warn(io, `servers that run in ${project} cannot start: ${fault}. See \`sub policy lint\`.`);
  }
  return undefined;
}

/** Shows the files of one client, asks, and changes them. Throws its failure. */
async function offer(
  planned: readonly ImportFile[],
  wish: ImportOptions,
  shown: Shown,
): Promise<void> {
  const { io } = shown;
  const moving = orThrow(await offerMoves(planned, wish, shown));
  if (moving.kind === 'stopped') {
    shown.files.push(...planned);
    return warn(io, 'nothing was changed.');
  }
  const { files, moves } = moving;
  shown.files.push(...files);
  shown.hasFailed ||= moving.hasFailed;
  if (!shown.json) for (const file of files) printFile(file, io);
  for (const warning of new Set(files.flatMap((file) => file.warnings))) warn(io, warning);
  const open = files.filter(({ isChanged }) => isChanged);
  const [first] = open;
  if (shown['dry-run']) shown.copies.push(...(await offerCopies(open, wish, shown)));
  if (first === undefined || shown['dry-run']) return;
  const which = open.length === 1 ? 'this file' : 'these files';
  const text = `Change ${which} of ${first.client.title}?`;
  if (!orThrow(await shown.asks.ask(text))) return warn(io, 'nothing was changed.');
  try {
    orThrow(await storeMoves(open, moves, { io, home: wish.paths.home }));
    await applyAll(open, moves, { wish, shown });
  } finally {
    moves?.end();
  }
  const applied = open.filter((file) => shown.applied.has(file));
  if (applied.length > 0 && !shown.json) {
    io.out.write(harmlessLine(doneText(applied, first.client, wish)));
  }
  shown.copies.push(...(await offerCopies(applied, wish, shown)));
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
  const wordsOf = (server: ServerView) => {
    const { state, name } = server;
    if (state === 'loose' && chosen.has(name)) {
      return `to be governed, in place of a shim with ${(server.loose ?? []).join(', ')}`;
    }
    if ((state === 'open' || server.obstacle !== undefined) && chosen.has(name)) {
      return 'to be governed';
    }
    const words = stateWords(server);
    return state === 'governed' && updated.has(name) ? `${words}, to be started otherwise` : words;
  };
  const lines = serverLines(file.servers, wordsOf, io.out);
  const head = io.out.colors.bold(harmless(`${file.client.title}: ${file.path}`));
  const none = lines.length === 0 ? ['  no servers'] : lines;
  printLines([head, ...none, ...secretLines(file), ...diffLines(file.diff, io.out)], io.out);
}

function doneText(
  files: readonly ImportFile[],
  { id, title }: ImportFile['client'],
  { configPath }: ImportOptions,
): string {
  const count = (name: 'chosen' | 'updated' | 'moves') =>
    files.reduce((sum, file) => sum + file[name].length, 0);
  const [governed, updated, moved] = [count('chosen'), count('updated'), count('moves')];
  const parts = [
    governed > 0 && `${plural(governed, 'server')} of ${title} ${isOrAre(governed)} governed`,
    updated > 0 && `${plural(updated, 'governed server')} ${isOrAre(updated)} brought up to date`,
    moved > 0 && `${plural(moved, 'secret')} ${moved === 1 ? 'comes' : 'come'} from the store`,
  ].filter((part) => part !== false);
  const path = configPath === undefined ? '' : ` --config-path ${shellWord(configPath)}`;
  return `Done: ${parts.join(', ')} from the next start on. Undo it with: sub restore ${id}${path}`;
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are';
}

function documentOf(plan: ImportPlan, { files, applied, copies }: Shown): object {
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
    shared: plan.shared,
    copies,
    problems: plan.problems.map(problemParts),
    warnings: plan.warnings,
  };
}
