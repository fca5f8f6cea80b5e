// `sub hints`: list hints, and allow a call that was rejected with one.
import { type Failure, failure } from '@subluminal/contracts';
import { findPolicies, userHome } from '@subluminal/plane/config';
import { diffLines } from '../adopt/lines.ts';
import { openOwnDesk, ownVerdict, userName } from '../approvals/desk.ts';
import { readArgumentFlags } from '../approvals/grant-flags.ts';
import { newGrantText } from '../approvals/render-approval.ts';
import {
  type FoundHint,
  findHint,
  type Hinted,
  listHints,
  requirePromotable,
} from '../hints/find.ts';
import { giveGrant, planGrant, requestOf } from '../hints/to-grant.ts';
import { type PolicyPlan, planPolicy, writePolicyPlan } from '../hints/to-policy.ts';
import {
  badUsage,
  defineCommand,
  EXIT,
  type OptionValues,
  type Outcome,
  optional,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import { numberOption } from '../input/read-option.ts';
import { RUN_OPTION, YES_FLAG } from '../input/shared-options.ts';
import {
  findLedger,
  freshen,
  type LedgerHome,
  readFreshLedger,
  withReader,
} from '../ledger/user-ledger.ts';
import { secondsText, shownId } from '../ledger/views.ts';
import { confirm } from '../terminal/confirm.ts';
import type { Io, Output } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';

const COLUMNS = [
  'ID',
  'WHEN',
  { title: 'CALL', widthMin: 16 },
  { title: 'AGENT', widthMin: 8, dropped: 2 },
  { title: 'RULE', widthMin: 8, dropped: 1 },
  { title: 'HINT', widthMin: 16 },
];

export const list = defineCommand({
  description:
    'Lists calls that were rejected with a hint, newest first: the rule that rejected each, and the hint that the agent got. `sub hints` alone does the same.',
  options: {
    run: RUN_OPTION,
    limit: textOption('count', 'Maximum number of hints (default: 50)'),
  },
  examples: ['sub hints list', 'sub hints', 'sub hints --run last --json'],
  exitCodes: { 0: 'the hints are listed', 2: 'wrong flags, or no ledger' },
  run: async ({ options }, io) => {
    const limit = numberOption('limit', options.limit, { min: 1, max: 1_000 }) ?? 50;
    const hints = orThrow(
      await readFreshLedger(io, (reader) => listHints(reader, options.run, limit)),
    );
    const table = tableText(COLUMNS, hints.map(rowOf), { width: io.out.columns });
    const document = { hints: hints.map(jsonOf) };
    return printout(document, hints.length === 0 ? 'There are no hints.\n' : table);
  },
});

function rowOf(call: Hinted): readonly string[] {
  return [
    shownId(call.call_id),
    secondsText(call.hint.created_at_ms),
    `${call.server_name}/${call.tool_name}`,
    call.agent_id,
    call.rule_id ?? '',
    call.hint.hint_text,
  ];
}

function jsonOf(call: Hinted) {
  const { call_id: id, run_id, agent_id, server_name, tool_name, args_hash, args_preview } = call;
  const { rule_id, reason_code, summary, hint } = call;
  const named = { id, run_id, agent_id, server_name, tool_name, args_hash, args_preview };
  return { ...named, rule_id, reason_code, summary, hint };
}

const PROMOTE_OPTIONS = {
  session: 'Allow it for the rest of this run only',
  policy: 'Write an allow rule into the policy',
  run: RUN_OPTION,
  'any-args': 'Allow any arguments, not only those of the call',
  like: textsOption(
    'name=glob',
    'The grant accepts any text that matches the glob for this argument',
  ),
  free: textsOption('name', 'The grant accepts anything for this argument, or its absence'),
  'dry-run': 'Print what would be done, and do nothing',
  yes: YES_FLAG,
};
type PromoteOptions = OptionValues<typeof PROMOTE_OPTIONS>;

export const promote = defineCommand({
  description:
    'With --session it creates a grant for the rest of the run, when the rule asks for approval. With --policy it puts an allow rule for exactly this call, agent and environment in front of the rule that rejected it; it shows the change as a diff and changes nothing else in the file. With both, that rule applies to this run only. It asks before it does anything, and cannot be used inside a governed run.',
  args: {
    id: 'The id of the hint, or a unique start or end of it',
    file: optional('With --policy: the bundle to change (default: the policy in force here)'),
  },
  options: PROMOTE_OPTIONS,
  examples: [
    'sub hints promote 3f9a1c20 --session',
    'sub hints promote 3f9a1c20 --policy',
    'sub hints promote 3f9a1c20 --policy policy.yaml --dry-run',
    'sub hints promote 3f9a1c20 --policy --session --yes',
  ],
  exitCodes: {
    0: 'the call is allowed from now on, or the change was shown',
    1: 'you declined; nothing changed',
    2: 'wrong flags, no such hint, or it cannot be promoted',
  },
  requires: 'terminal',
  run: async ({ args, options }, io) => {
    orThrow(wrongFlags(args, options));
    const home = orThrow(await findLedger());
    await freshen(home, io);
    const found = orThrow(
      await withReader(home, async (reader): Promise<FoundHint | Failure> => {
        const call = orThrow(await findHint(reader, args.id, options.run));
        const run = await reader.run(call.run_id);
        if (run === undefined) {
          return failure('SUB_HINT_UNKNOWN', 'its run is gone.', 'See `sub hints`.');
        }
        return { call, run, request: options.policy ? undefined : await requestOf(reader, call) };
      }),
    );
    orThrow(requirePromotable(found, options.session));
    return options.policy
      ? toPolicy(found, { file: args.file, options, home, io })
      : toGrant(found, options, io);
  },
});

function wrongFlags(
  { file }: { readonly file: string },
  { session, policy, like, free }: PromoteOptions,
): Failure | undefined {
  if (!session && !policy) {
    return badUsage('neither --session nor --policy is given.', 'Add --session or --policy.');
  }
  if (!policy && file !== '') {
    return badUsage('a policy file needs --policy.', 'Add --policy, or leave it out.');
  }
  if (policy && like.length + free.length > 0) {
    return badUsage('--like and --free are for grants.', 'Leave them out, or leave out --policy.');
  }
  return undefined;
}

interface PolicyTask {
  readonly file: string;
  readonly options: PromoteOptions;
  readonly home: LedgerHome;
  readonly io: Io;
}

async function toPolicy({ call, run }: FoundHint, task: PolicyTask): Promise<Outcome> {
  const { options, io } = task;
  const path = orThrow(policyPath(task));
  const { session, 'any-args': anyArgs } = options;
  const wish = { path, call, run, anyArgs, session, by: userName(), nowMs: Date.now() };
  const plan = await planPolicy(wish, io);
  if (!options.json) io.out.write(planText(plan, call, io.out));
  const question = `Write this to ${harmless(path)}?`;
  const agreed = orThrow(!options['dry-run'] && (await confirm(question, io, options.yes)));
  if (agreed) await writePolicyPlan(plan, task.home.paths);
  const { rule, notes, diff } = plan;
  const text = agreed ? harmlessLine(`${path} is changed.`) : '';
  const document = { changed: agreed, file: path, rule, notes, diff };
  return printout(document, text, exitCodeFor(agreed, options));
}

/** The file that was named, else the one that applies here. */
function policyPath({ file, home: { config, paths } }: PolicyTask): string | Failure {
  const named = file === '' ? config['policy.path'] : file;
  if (named !== null) return named;
  const where = { cwd: process.cwd(), home: paths.home, userHome: userHome(process.env) };
  const { project, user } = findPolicies(where);
  const none = failure('SUB_HINT_PROMOTE', 'no policy is found here.', 'Name one behind --policy.');
  return project ?? user ?? none;
}

function planText({ diff, notes }: PolicyPlan, call: Hinted, out: Output): string {
  const { server_name, tool_name, agent_id, rule_id, args_preview } = call;
  const lines = [
    harmless(`${server_name}/${tool_name} by ${agent_id}, refused by ${rule_id ?? 'no rule'}`),
    harmless(`arguments: ${args_preview ?? 'not on record'}`),
    ...diffLines(diff, out),
    ...notes.map(harmless),
  ];
  return `${lines.join('\n')}\n`;
}

async function toGrant(found: FoundHint, options: PromoteOptions, io: Io): Promise<Outcome> {
  const args = orThrow(readArgumentFlags(options));
  const desk = openOwnDesk(io);
  const giver = ownVerdict();
  const plan = planGrant({ desk, giver }, found, args);
  if (!options.json) io.out.write(newGrantText(plan.grant, io.out.colors));
  const agreed = orThrow(!options['dry-run'] && (await confirm('Grant this?', io, options.yes)));
  const grant = orThrow(agreed ? giveGrant({ desk, giver }, plan) : plan.grant);
  const text = agreed ? 'It is granted.\n' : '';
  return printout({ changed: agreed, grant }, text, exitCodeFor(agreed, options));
}

function exitCodeFor(agreed: boolean, options: PromoteOptions): number {
  return agreed || options['dry-run'] ? EXIT.fine : EXIT.findings;
}
