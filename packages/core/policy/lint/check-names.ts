// Advice on names of tools, by what the servers on this machine have shown.
import type { Match } from '@subluminal/contracts';
import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';
import { namesIn } from '../match/names.ts';
import { type Advice, warning } from '../model/advice.ts';
import { isForTurns, methodOf, subjectOf } from '../model/subjects.ts';
import type { Subject } from './lint-subject.ts';

/**
 * Names written out in full that no pinned tool has. Only for rules that name their servers in full:
 * any other server may have such a tool.
 */
export function unpinnedTools({ enabled, tools = new Map() }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule: { match }, index }) => {
    const known = pinnedNames(match, tools);
    if (known === undefined) return [];
    const { literals } = namesIn(match.tool_name);
    const isCaseless = match.tool_name?.ignore_case === true;
    const fold = (name: string) => (isCaseless ? name.toLowerCase() : name);
    return (match.tool_name?.glob ?? []).flatMap((name, at) => {
      const isKnown = known.some((tool) => fold(tool) === fold(name));
      if (!literals.has(name) || isKnown) return [];
      const servers = (match.server_name?.glob ?? []).map((server) => quote(server)).join(' or ');
      const meant = nearest(name, known);
      const message = `no pinned tool of ${servers} is called ${quote(name)}`;
      const near = meant === undefined ? '' : `Write ${quote(meant)} if that is meant; `;
      const fix = `${near}\`sub pins list\` shows all of them.`;
      const path = ['rules', index, 'match', 'tool_name', 'glob', at];
      return warning('SUB_LINT_UNKNOWN_TOOL', path, [message, fix]);
    });
  });
}

/** Names that the rule cannot see, because its `subjects` are others. */
export function unseenMethods({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule: { rule_id, match }, index }) => {
    const { subjects = ['tool'], tool_name } = match;
    if (isForTurns(match)) return [];
    const path = ['rules', index, 'match', 'tool_name'];
    const found = (tool_name?.glob ?? []).flatMap((name, at) => {
      const subject = subjectOf(name);
      if (subject === undefined || subjects.includes(subject)) return [];
      const message = `${quote(rule_id)} never sees ${quote(name)}: it is for ${subjects.join(' and ')}`;
      const fix = `Write \`subjects: [${subject}]\` for it, in a rule of its own.`;
      return warning('SUB_LINT_UNREACHABLE', [...path, 'glob', at], [message, fix]);
    });
    if (found.length > 0 || subjects.includes('tool')) return found;
    const methods = subjects.flatMap((subject) =>
      subject === 'tool' || subject === 'turn' ? [] : methodOf(subject),
    );
    const { everything, regexes, literals, patterns } = namesIn(tool_name);
    const fits = (method: string) =>
      literals.has(method) || [...patterns.values()].some(({ test }) => test(method));
    if (everything || regexes.size > 0 || methods.some(fits)) return [];
    const named = methods.map((method) => quote(method)).join(' or ');
    const message = `${quote(rule_id)} can never match: it is for ${subjects.join(' and ')}, whose name is ${named}`;
    const fix = 'Remove `tool_name`, and match the `uri` or the `name` among the arguments.';
    return warning('SUB_LINT_UNREACHABLE', path, [message, fix]);
  });
}

/** The tools of all servers that a rule is for; undefined where one of them is not known. */
function pinnedNames(
  match: Match,
  tools: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const { everything, regexes, patterns, literals } = namesIn(match.server_name);
  if (everything || regexes.size > 0 || patterns.size > 0) return undefined;
  const known = [...literals].map((server) => tools.get(server) ?? []);
  return known.some((names) => names.length === 0) ? undefined : known.flat();
}
