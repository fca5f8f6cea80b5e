// A policy from recorded calls, as YAML to be reviewed: the tools that were used pass, what destroys asks
// a person, and everything else is refused. No value of an argument gets into it but names of folders
// and programs, and of the resources and prompts that were used.
import type { Event } from '@subluminal/contracts';
import { absolutePath, isUnder, lexicalPath, namesBelow } from '../../paths/lexical-path.ts';
import { escapeName } from '../../surface/names/name-patterns.ts';
import { plural } from '../../text/plural.ts';
import { visible } from '../../text/visible.ts';
import { yamlQuoted } from '../../text/yaml-text.ts';
import { NAME_KEYS, type ObservedSubject } from './observed-subjects.ts';
import { type Observed, type ObservedTool, observeTools, TOOLS_MAX } from './observed-tools.ts';

export interface SuggestOptions {
  /** The folder that `${project}` stands for. */
  readonly project: string;
  /** The version of the policy: a day. */
  readonly version: string;
}

export interface Suggestion {
  /** Calls that passed; the policy lets them pass as well, or asks. */
  readonly calls: number;
  readonly text: string;
}

const SLUG_LENGTH_MAX = 40;
const LIMIT_MIN = 20;
// oxlint-disable-next-line no-template-curly-in-string -- Policies write it so.
const PROJECT = '${project}';

export function suggestPolicy(events: Iterable<Event>, options: SuggestOptions): Suggestion {
  const observed = observeTools(events);
  const ids = new Set<string>();
  const rules = [
    ...budgetRules(observed),
    ...toolRules(observed, options, ids),
    ...observed.others.listed.map((group) => subjectRule(group, ids)),
    DENY_REST,
  ];
  const lines = [
    `# Suggested from ${plural(observed.calls, 'call')} in ${plural(observed.runs, 'run')}. Review it: what is not listed is refused, resources and prompts as well.`,
    ...refusedLines(observed),
    ...leftOutLines(observed),
    ...unlistedLines(observed),
    ...turnLines(observed),
    'policy_id: suggested',
    `version: ${yamlQuoted(options.version)}`,
    'mode: control',
    'description: Only the tools that were used, within twice their use.',
    '# Many clients show their model nothing of an error, but all of a result.',
    'hint_delivery: tool_result',
    '',
    '# Secrets in arguments stop a call, and secrets in answers are redacted.',
    'content: {}',
    '',
    'rules:',
    ...rules.flatMap(ruleLines),
  ];
  return { calls: observed.calls, text: `${lines.join('\n')}\n` };
}

/** A rule: its comment, its head, and the lines of its match and its effect. */
interface RuleText {
  readonly comment: string;
  readonly id: string;
  readonly kind: string;
  readonly severity: string;
  readonly match: readonly string[];
  readonly effect: readonly string[];
}

const DENY_REST: RuleText = {
  comment: 'Everything else. `sub query --decision REFUSED` shows what is missed.',
  id: 'deny-the-rest',
  kind: 'deny',
  severity: 'warn',
  match: ['subjects: [tool, resource, prompt]'],
  effect: [
    'action: BLOCK',
    'reason_code: NOT_LISTED',
    'message: This policy does not list this call.',
    'hint: { hint_text: "Use what this run used before, or ask a person.", hint_kind: SAFETY }',
  ],
};

function ruleLines(rule: RuleText, index: number): readonly string[] {
  const { comment, id, kind, severity, match, effect } = rule;
  return [
    ...(index === 0 ? [] : ['']),
    `  # ${comment}`,
    `  - rule_id: ${id}`,
    `    kind: ${kind}`,
    `    severity: ${severity}`,
    match.length === 0 ? '    match: {}' : '    match:',
    ...match.map((line) => `      ${line}`),
    '    effect:',
    ...effect.map((line) => `      ${line}`),
  ];
}

function refusedLines({ refused, tools }: Observed): readonly string[] {
  const ofListed = tools.reduce((sum, tool) => sum + tool.refused, 0);
  const ofOthers = refused - ofListed;
  return [
    ...(ofOthers > 0
      ? [`# ${plural(ofOthers, 'call')} of other tools did not pass, and still would not.`]
      : []),
    ...(ofListed > 0
      ? [`# ${plural(ofListed, 'call')} of listed tools did not pass; some of them may pass now.`]
      : []),
  ];
}

function leftOutLines({ leftOut }: Observed): readonly string[] {
  if (leftOut === 0) return [];
  const more = `${plural(leftOut, 'more tool')} on record ${leftOut === 1 ? 'is' : 'are'} left out`;
  return [`# ${more}, and refused: this policy lists the first ${TOOLS_MAX}.`];
}

/** Reads of resources are on record where a rule names them, or where a gate refused them. */
function unlistedLines({ others: { unlisted } }: Observed): readonly string[] {
  if (unlisted === 0) return [];
  const requests = plural(unlisted, 'request');
  return [
    `# Not listed: ${requests} for resources or prompts that did not pass, needed a person, may name a secret, or are too many.`,
  ];
}

function turnLines({ turns }: Observed): readonly string[] {
  if (turns === 0) return [];
  const are = turns === 1 ? 'is' : 'are';
  return [
    `# ${plural(turns, 'turn')} of models ${are} on record. No rule here is about turns, so they pass: write rules with \`subjects: [turn]\` for budgets and models.`,
  ];
}

/** The resources or prompts of a server that passed each time they were asked for. */
function subjectRule({ server, subject, names }: ObservedSubject, ids: Set<string>): RuleText {
  return {
    comment: `Used ${subject}s of ${visible(server, SLUG_LENGTH_MAX)}.`,
    id: freeId(`allow-${slugOf(server)}-${subject}s`, ids),
    kind: 'allow',
    severity: 'info',
    match: [
      `subjects: [${subject}]`,
      `server_name: { glob: [${globOf(server)}] }`,
      'args:',
      '  key_in:',
      `    ${NAME_KEYS[subject]}:`,
      ...names.map((name) => `      - ${yamlQuoted(name)}`),
    ],
    effect: ['action: ALLOW', 'reason_code: OBSERVED'],
  };
}

function budgetRules({ tools, callsMax, changesMax }: Observed): readonly RuleText[] {
  const changing = [...new Set(tools.filter(({ changes }) => changes).map(({ tool }) => tool))];
  const rules = [budgetRule('calls-per-run', [callsMax, 'calls'], [])];
  if (changing.length > 0) {
    const match = ['tool_name:', '  glob:', ...changing.map((name) => `    - ${globOf(name)}`)];
    rules.push(
      budgetRule('changes-per-run', [changesMax, 'calls that may change something'], match),
    );
  }
  return rules;
}

function budgetRule(
  id: string,
  [most, what]: readonly [number, string],
  match: readonly string[],
): RuleText {
  const limit = Math.max(LIMIT_MIN, Math.ceil((most * 2) / 10) * 10);
  return {
    comment: `The most ${what} in one run: ${most}.`,
    id,
    kind: 'budget',
    severity: 'warn',
    match,
    effect: [
      'budget:',
      '  scope: run',
      `  limit_calls: ${limit}`,
      '  on_exceed: REJECT_WITH_HINT',
      '  hint_text: The budget of this run is used up. Say what is left to do, and stop.',
    ],
  };
}

/** Who asks comes before the tools that pass, because an approval decides nothing by itself. */
function toolRules(
  { tools }: Observed,
  { project }: SuggestOptions,
  ids: Set<string>,
): readonly RuleText[] {
  const groups = new Map<string, ToolGroup>();
  const add = (tool: ObservedTool, kind: ToolGroup['kind'], args: readonly string[]) => {
    const { server } = tool;
    const key = JSON.stringify([server, kind, args]);
    const group = groups.get(key) ?? { server, kind, args, tools: [] };
    group.tools.push(tool);
    groups.set(key, group);
  };
  const running = tools.filter(({ asks, programs }) => !asks && programs !== undefined);
  for (const tool of running) {
    const lines = commandLines(tool);
    if (lines.length > 0) add(tool, 'commands', lines);
    add(tool, 'other_commands', []);
  }
  for (const tool of tools.filter(({ asks }) => asks)) add(tool, 'approval', []);
  for (const tool of tools) add(tool, 'allow', argLines(tool, project));
  return [...groups.values()].map((group) => toolRule(group, ids));
}

/** Tools of a server that pass by the same arguments. */
interface ToolGroup {
  readonly server: string;
  readonly kind: 'commands' | 'other_commands' | 'approval' | 'allow';
  readonly args: readonly string[];
  readonly tools: ObservedTool[];
}

function toolRule({ server, kind, args, tools }: ToolGroup, ids: Set<string>): RuleText {
  const asks = kind === 'approval' || kind === 'other_commands';
  const of = kind === 'commands' || kind === 'other_commands' ? '-commands' : '';
  const where = args.length > 0 ? ', on the paths that were used' : '';
  const named = visible(server, SLUG_LENGTH_MAX);
  const comments = {
    commands: `Used commands of ${named}, where all of them is understood and stays in the project.`,
    other_commands: `Other commands of ${named}: a person is asked.`,
    approval: `Hard to undo: a person is asked before these tools of ${named}.`,
    allow: `Used tools of ${named}${where}.`,
  };
  return {
    comment: comments[kind],
    id: freeId(`${asks ? 'ask' : 'allow'}-${slugOf(server)}${of}`, ids),
    kind: asks ? 'approval' : 'allow',
    severity: asks ? 'critical' : 'info',
    match: [
      `server_name: { glob: [${globOf(server)}] }`,
      'tool_name:',
      '  glob:',
      ...tools.map((tool) => `    - ${globOf(tool.tool)} # ${countsOf(tool)}`),
      ...args,
    ],
    effect: asks ? ['approval: { wait: hold }'] : ['action: ALLOW', 'reason_code: OBSERVED'],
  };
}

/** The programs that were run, by all commands of a tool that are understood. */
function commandLines({ programs = new Set() }: ObservedTool): readonly string[] {
  if (programs.size === 0) return [];
  return [
    'command:',
    '  program:',
    ...[...programs].toSorted().map((program) => `    - ${yamlQuoted(program)}`),
    `  writes: ["${PROJECT}/**", "\${tmp}/**"]`,
  ];
}

function countsOf({ calls, runs, refused, unseen }: ObservedTool): string {
  const parts = [
    `${plural(calls, 'call')} in ${plural(runs.size, 'run')}`,
    ...(refused > 0 ? [`${refused} more did not pass`] : []),
    ...(unseen > 0 ? [`${unseen} with arguments that are not on record`] : []),
  ];
  return parts.join(', ');
}

/** The arguments that were a path below the project in every call. */
function argLines({ texts, changes }: ObservedTool, project: string): readonly string[] {
  const roots: string[] = [];
  for (const [name, values] of texts) {
    const folder = values === null ? undefined : commonFolder(name, [...values], project);
    if (folder === undefined) continue;
    const root = [PROJECT, ...(changes && folder !== '' ? [folder] : [])].join('/');
    roots.push(`${yamlQuoted(name)}: [${yamlQuoted(root)}]`);
  }
  return roots.length === 0 ? [] : ['args:', `  path_under: { ${roots.join(', ')} }`];
}

const PATH_NAME = /(?:^|_)(?:path|file|filename|dir|directory|folder|source|destination|root)$/i;
const FOLDER_NAME = /^[\w.@-]{1,40}$/;

/** The one folder of the project that has all paths, '' for several; undefined where one is elsewhere. */
function commonFolder(
  name: string,
  values: readonly string[],
  project: string,
): string | undefined {
  const folders = new Set<string>();
  for (const value of values) {
    const parts = partsBelow(value, project, PATH_NAME.test(name));
    if (parts === undefined) return undefined;
    const [first = ''] = parts;
    folders.add(parts.length > 1 && FOLDER_NAME.test(first) ? first : '');
  }
  const [only = ''] = folders;
  return folders.size === 1 ? only : '';
}

/** The parts of a path below the project; undefined for what is no path, or leads elsewhere. */
function partsBelow(
  value: string,
  project: string,
  mayBeRelative: boolean,
): readonly string[] | undefined {
  const isRelative = !value.startsWith('/');
  if (isRelative && (!mayBeRelative || value === '' || /^~|^[a-z]+:/i.test(value))) {
    return undefined;
  }
  const path = lexicalPath(absolutePath(value, project));
  return isUnder(path, project) ? namesBelow(path, project) : undefined;
}

function globOf(name: string): string {
  return yamlQuoted(escapeName(name));
}

function slugOf(server: string): string {
  const slug = server
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, SLUG_LENGTH_MAX);
  return slug.replaceAll(/^-|-$/g, '') || 'server';
}

function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  for (let count = 2; taken.has(id); count++) id = `${wanted}-${count}`;
  taken.add(id);
  return id;
}
