// Advice on rules about shell commands.
import type { Match } from '@subluminal/contracts';
import { quote } from '../../text/visible.ts';
import { mayOverlap, type NameSet, namesIn } from '../match/names.ts';
import { type Advice, note, warning } from '../model/advice.ts';
import { ruleClasses, ruleRole } from '../rules/index.ts';
import type { Subject } from './lint-subject.ts';

/** What joins commands; each program is compared by itself. */
const OPERATORS = /[|;&<>]/;
/** Two words, and nothing that stands for more of them. */
const EXACT_WORDS = /^[^\s*?[{]+(?:\s[^*?[{]*)$/;
const OPTION = /^[^\s*?[{]+\s+-/;
const SYSTEM_PATH = /^\/(?:\w+\/)*s?bin\/([^/\s]+)/;

/** An allow by programs alone lets them read and write any file. */
export function unguardedFiles({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    const { command } = rule.match;
    if (command === undefined || ruleRole(rule) !== 'allows') return [];
    if (command.writes !== undefined || command.args_under !== undefined) return [];
    const [first = 'ls'] = command.program ?? [];
    const example = `${first.replaceAll(/[*?]/g, '') || 'ls'} > ~/.bashrc`;
    const message = `${quote(rule.rule_id)} lets these programs write any file, as in ${quote(example)}`;
    const fix =
      'Add `writes: ["${project}/**", "/dev/null"]`, or `args_under` for all that they name.';
    return warning('SUB_LINT_COMMAND', ['rules', index, 'match', 'command'], [message, fix]);
  });
}

/** Entries of `program` that fit less than they seem to. */
export function commandPrograms({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    const isAllow = ruleRole(rule) === 'allows';
    return (rule.match.command?.program ?? []).flatMap((glob, at) => {
      const words = programAdvice(glob, isAllow);
      const path = ['rules', index, 'match', 'command', 'program', at];
      return words === undefined ? [] : [warning('SUB_LINT_COMMAND', path, words)];
    });
  });
}

function programAdvice(glob: string, isAllow: boolean): readonly [string, string] | undefined {
  if (OPERATORS.test(glob)) {
    const message = `${quote(glob)} never matches: each program of a command is compared by itself`;
    return [message, 'Write an entry for each program, such as `curl` and `sh`.'];
  }
  if (isAllow) return undefined;
  const [, name] = SYSTEM_PATH.exec(glob) ?? [];
  if (name !== undefined) {
    const message = `${quote(glob)} matches only where the program is called by this path`;
    return [message, `Write ${quote(name)}, which matches wherever it lies.`];
  }
  if (OPTION.test(glob)) {
    const message = `options can be written in other ways and in another order than in ${quote(glob)}`;
    return [
      message,
      `Write ${quote(glob.split(/\s/, 1)[0] ?? glob)}, and say which files by \`writes\`, \`args_under\` or \`not_args_under\`.`,
    ];
  }
  if (!EXACT_WORDS.test(glob)) return undefined;
  const message = `${quote(glob)} matches these words alone, without further arguments`;
  return [message, `Write ${quote(`${glob}*`)}.`];
}

/** Settings about commands that do nothing, or whose classes let more pass than they seem to. */
export function commandSettings({ enabled, bundle }: Subject): readonly Advice[] {
  const hasRules = bundle.rules.some(({ match }) => match.command !== undefined);
  const unused = 'no rule has `match.command`, so nothing is asked about commands';
  return [
    ...(bundle.commands === undefined || hasRules
      ? []
      : [
          note(
            'SUB_LINT_COMMAND',
            ['commands'],
            [unused, 'Add such a rule, or remove `commands`.'],
          ),
        ]),
    ...enabled.flatMap(({ rule, index }) => {
      if (rule.match.command === undefined || rule.match.subjects?.includes('tool') !== false) {
        return [];
      }
      const message = `${quote(rule.rule_id)} can never match: only calls of tools run commands`;
      const path = ['rules', index, 'match', 'subjects'];
      return warning('SUB_LINT_UNREACHABLE', path, [message, 'Remove `subjects`.']);
    }),
    ...enabled.flatMap(({ rule, index }) => {
      if (rule.match.command === undefined || !runsNone(rule.match)) return [];
      const message = `${quote(rule.rule_id)} can never match: these tools run no commands`;
      const fix = 'Name a shell, such as `Bash`, or look at the arguments by `args` or `any_arg`.';
      return warning(
        'SUB_LINT_UNREACHABLE',
        ['rules', index, 'match', 'tool_name'],
        [message, fix],
      );
    }),
    ...partlyTagged({ enabled }),
  ];
}

const CLIENTS = ['claude-code', 'codex', 'copilot-cli', 'cursor', 'gemini-cli'];
const SHELLS: Match = {
  server_name: { glob: CLIENTS },
  tool_name: {
    glob: [
      ...['Bash', 'Monitor', 'PowerShell', 'Shell', 'bash', 'exec_command', 'local_shell'],
      ...['powershell', 'run_shell_command', 'run_terminal_cmd', 'shell', 'shell_command'],
    ],
  },
};
const FILE_TOOLS = [
  'Edit',
  'Glob',
  'Grep',
  'MultiEdit',
  'NotebookEdit',
  'Read',
  'WebFetch',
  'Write',
];
const STEPS_MAX = 10_000;

/** Of a server that is no client, any tool may have an argument that is a command. */
function runsNone(match: Match): boolean {
  const servers = namesIn(match.server_name);
  if (isAmong(servers, CLIENTS)) return !mayOverlap(match, SHELLS, { left: STEPS_MAX });
  return servers.everything && isAmong(namesIn(match.tool_name), FILE_TOOLS);
}

function isAmong({ everything, regexes, patterns, literals }: NameSet, names: readonly string[]) {
  const isOpen = everything || regexes.size + patterns.size > 0;
  return !isOpen && [...literals].every((name) => names.includes(name));
}

/** A tag is added where a part of a command matches: to let calls pass by it lets the rest pass too. */
function partlyTagged({ enabled }: Pick<Subject, 'enabled'>): readonly Advice[] {
  const tagged = new Map(
    enabled
      .filter(({ rule }) => rule.match.command !== undefined)
      .flatMap(({ rule }) => ruleClasses(rule).map((name) => [name, rule.rule_id] as const)),
  );
  return enabled.flatMap(({ rule, index }) => {
    if (ruleRole(rule) !== 'allows') return [];
    return (rule.match.risk_class ?? []).flatMap((name, at) => {
      const tagger = tagged.get(name);
      if (tagger === undefined) return [];
      const message = `${quote(tagger)} adds ${quote(name)} where a part of a command matches, so ${quote(rule.rule_id)} lets the rest of it pass, too`;
      const fix = 'Match the commands in the allow itself: there, all of a command must match.';
      const path = ['rules', index, 'match', 'risk_class', at];
      return warning('SUB_LINT_COMMAND', path, [message, fix]);
    });
  });
}
