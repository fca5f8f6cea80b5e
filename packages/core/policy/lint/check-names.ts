// Advice on names of tools, by what the servers on this machine have shown.
import type { Match } from '@subluminal/contracts';
import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';
import { namesIn } from '../match/names.ts';
import { type Advice, warning } from '../model/advice.ts';
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
