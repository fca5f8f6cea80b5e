import { resolve } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { clientIds } from '@subluminal/plane/clients';
import {
  applyImport,
  hookStatus,
  type ImportFile,
  type ImportOptions,
  type ImportPlan,
  type PreparedMoves,
  planImport,
  unseenText,
  withHooks,
} from '@subluminal/plane/clients/setup';
import { sourceWarnings } from '@subluminal/plane/policy';
import {
  checkHookFlags,
  HOOK_OPTIONS,
  type HookFlags,
  hookParts,
  type OfferedHooks,
  offerHooks,
  UNSET_HOOKS,
  wantsHooks,
} from '../adopt/hooks.ts';
import { doneText, printFile } from '../adopt/import-lines.ts';
import { problemParts, serverParts, tellProblems } from '../adopt/lines.ts';
import { offerMoves, secretParts, storeMoves } from '../adopt/move-secrets.ts';
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
import { harmlessLine, jsonText } from '../terminal/text.ts';

const ARGS = {
  client: optional(`The client: ${clientIds().join(', ')} (default: every client found)`),
};
const OPTIONS = {
  'dry-run': 'Print what would change, and change nothing',
  project: textOption('dir', 'The folder of the project (default: the current folder)'),
  server: textsOption('name', 'Only this server; can be repeated'),
  policy: textOption(
    'file',
    'The policy for these servers and hooks (default: found from the folder they run in)',
  ),
  profile: choice(PROFILES, PROFILE_DOC),
  'config-path': textOption('file', 'Use this config instead of those of the client'),
  shared: 'Also change files of the project that git shares with others, such as .mcp.json',
  'user-only': 'Skip all files that belong to the project',
  'move-secrets': 'Move plain-text secrets from env into the encrypted store without asking',
  'remove-copies': 'Remove other copies of the config that hold a moved secret, without asking',
  'keep-secrets': 'Leave plain-text secrets where they are, and do not offer to move them',
  ...HOOK_OPTIONS,
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
  ...UNSET_HOOKS,
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
  if (!wantsHooks(options)) orThrow(nothingThere(first, asked.client));
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
  const hooks = await hooksFor(plan, wish, shown);
  shown.hasFailed ||= hooks.hasFailed;
  const changes = [...shown.files, ...hooks.files].filter(({ isChanged }) => isChanged);
  if (options.json) io.out.write(jsonText(documentOf(plan, shown, hooks)));
  else if (!shown.hasFailed && changes.length === 0 && !hooks.isTrusted) {
    io.out.write('Nothing to do.\n');
  }
  const own = plan.files.map((file) => ({ ...file, client: file.client.id }));
  const unseen = unseenText(own, hookStatus(wish));
  if (unseen !== undefined && !options.json) io.out.write(harmlessLine(unseen));
  if (shown.lacksPolicy && !options.json) io.out.write(harmlessLine(noPolicyText(wish.project)));
  return shown.hasFailed ? EXIT.usage : EXIT.fine;
}

interface Shown extends CopyRemovalOptions, HookFlags {
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
  checkHookFlags(options, client);
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
          withHooks([client]).length === 0
            ? 'Name its config with --config-path.'
            : `Name its config with --config-path, or govern its own tools: sub import ${client.id} --hooks`,
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
 * A server that finds a broken policy does not start, and one that finds none only records, as a hook
 * does; one that is there and not used is named. Returns the path of a policy that was written here and that servers would
 * not find.
 */
async function policyToName(
  { files, clients: all }: ImportPlan,
  wish: Wish,
  shown: Shown,
): Promise<string | undefined> {
  const hooked = wantsHooks(shown) ? all : [];
  if (hooked.length === 0 && files.every(({ chosen }) => chosen.length === 0)) return undefined;
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
    const found = [...files.map(({ client }) => client), ...hooked];
    const clients = [...new Set(found.map(({ title }) => title))];
    shown.lacksPolicy = !canAsk;
    return canAsk ? offerStarter({ where: wish, clients, io, asks }) : undefined;
  }
  const fault = await startCheck().policyFault(path);
  if (fault !== undefined) {
    const what = hooked.length === 0 ? 'cannot start' : 'cannot start, and hooks refuse everything';
    warn(io, `servers that run in ${project} ${what}: ${fault}. See \`sub policy lint\`.`);
  }
  return undefined;
}

/** A choice among servers, or a config that was named, leaves the settings of the client alone. */
function hooksFor(plan: ImportPlan, wish: Wish, shown: Shown): Promise<OfferedHooks> {
  const { io, asks, ...flags } = shown;
  const isNarrow = wish.servers.length > 0 || wish.configPath !== undefined;
  const clients = isNarrow && !wantsHooks(flags) ? [] : plan.clients;
  return offerHooks({ where: wish, clients, flags, io, asks });
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

function documentOf(
  plan: ImportPlan,
  { files, applied, copies }: Shown,
  hooks: OfferedHooks,
): object {
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
    hooks: hookParts(hooks),
    shared: plan.shared,
    copies,
    problems: plan.problems.map(problemParts),
    warnings: plan.warnings,
  };
}
