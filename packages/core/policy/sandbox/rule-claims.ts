// What one rule says about paths and hosts, as far as a sandbox could enforce it.
import type { Match, Rule } from '@subluminal/contracts';
import { compileGlob } from '../../patterns/glob.ts';
import { PATH_FIELDS, type PathField, type PathForm } from '../match/path-patterns.ts';
import { sandboxPaths } from './sandbox-path.ts';
import type { DeniedAccess, SandboxPath, SandboxTools } from './settings.ts';

/** The tools of the client that a rule is about. */
export interface ClaimedTools {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly shell: readonly string[];
}

/** One thing that makes the rule match, with the tools that it can be true of. */
export type RuleClaim =
  | {
      readonly kind: 'paths';
      readonly paths: readonly SandboxPath[];
      readonly tools: ClaimedTools;
      /** Where the rule says which; else the tools tell. */
      readonly access?: DeniedAccess;
    }
  | {
      readonly kind: 'outside';
      readonly folders: readonly SandboxPath[];
      readonly tools: ClaimedTools;
      /** It speaks of writing alone. */
      readonly access?: 'write';
    }
  | { readonly kind: 'hosts'; readonly hosts: readonly string[] }
  | { readonly kind: 'unsayable'; readonly why: string };

/** `all`: every call of its tools. `either`: any of these. `unsayable`: no sandbox can know. */
export type RuleClaims =
  | { readonly kind: 'all' }
  | { readonly kind: 'either'; readonly claims: readonly RuleClaim[] }
  | { readonly kind: 'unsayable'; readonly why: string };

export function claimsOf(
  rule: Rule,
  matched: ClaimedTools,
  { read, write }: SandboxTools,
): RuleClaims {
  const { match } = rule;
  const why = unsayable(rule);
  if (why !== undefined) return { kind: 'unsayable', why };
  const keys = { ...read, ...write };
  const groups = [
    ...argClaims(match, matched, keys),
    ...anyArgClaims(match, matched),
    ...commandClaims(match, matched),
  ];
  const [only, ...more] = groups;
  if (only === undefined) return { kind: 'all' };
  if (more.length > 0) return { kind: 'unsayable', why: 'it joins several conditions' };
  return { kind: 'either', claims: only };
}

function unsayable({ match, when }: Rule): string | undefined {
  if (when !== undefined) return 'it has a condition (`when`)';
  if (match.time !== undefined) return 'it depends on the time';
  if (match.risk_class !== undefined) return 'it depends on risk classes';
  const { has_keys, key_equals, key_in, numeric_range } = match.args ?? {};
  const values = [has_keys, key_equals, key_in, numeric_range].some((one) => one !== undefined);
  return values ? 'it looks at the values of arguments' : undefined;
}

type PathKeys = { readonly [tool: string]: readonly string[] };

/** Each is one more condition. */
function argClaims(
  { args = {} }: Match,
  matched: ClaimedTools,
  keys: PathKeys,
): readonly (readonly RuleClaim[])[] {
  return PATH_FIELDS.flatMap((field) =>
    Object.entries(args[field] ?? {}).map(([key, patterns]) => {
      const glob = compileGlob(key);
      const names = (tool: string) =>
        glob.ok && (keys[tool] ?? []).some((argument) => glob.test(argument));
      const tools = {
        read: matched.read.filter(names),
        write: matched.write.filter(names),
        shell: [],
      };
      return [pathClaim(field, patterns, tools)];
    }),
  );
}

/** One condition, with several ways to be true. */
function anyArgClaims(
  { any_arg: found }: Match,
  matched: ClaimedTools,
): readonly (readonly RuleClaim[])[] {
  if (found === undefined) return [];
  const claims = PATH_FIELDS.flatMap((field) => {
    const patterns = found[field];
    return patterns === undefined ? [] : [pathClaim(field, patterns, matched)];
  });
  const hasTexts = found.glob !== undefined || found.regex !== undefined;
  const texts: RuleClaim = { kind: 'unsayable', why: 'it looks for texts in arguments' };
  return [hasTexts ? [...claims, texts] : claims];
}

/** Each field is one more condition, and true of commands alone. */
function commandClaims(
  { command = {} }: Match,
  { shell }: ClaimedTools,
): readonly (readonly RuleClaim[])[] {
  const { program, opaque, hosts, reads, writes, not_writes_under, args_under, not_args_under } =
    command;
  const tools = { read: [], write: [], shell };
  const claims: readonly (RuleClaim | undefined)[] = [
    program && { kind: 'unsayable', why: 'it names programs' },
    opaque === undefined
      ? undefined
      : { kind: 'unsayable', why: 'it depends on whether a command is understood' },
    hosts && { kind: 'hosts', hosts },
    reads && { ...pathsIn('path_matches', reads, tools), access: 'read' },
    writes && { ...pathsIn('path_matches', writes, tools), access: 'write' },
    not_writes_under && { ...outsideOf(not_writes_under, tools), access: 'write' },
    args_under && pathsIn('path_under', args_under, tools),
    not_args_under && outsideOf(not_args_under, tools),
  ];
  return claims.flatMap((claim) => (claim === undefined ? [] : [[claim]]));
}

/** Whether it is about the hosts that commands reach, and nothing else. */
export function isAboutHosts({ match, when }: Rule): boolean {
  const { command, tool_name: _tool, server_name: _server, subjects: _subjects, ...others } = match;
  const fields = Object.keys(command ?? {});
  const isBare = when === undefined && Object.keys(others).length === 0;
  return isBare && fields.length === 1 && fields[0] === 'hosts';
}

function pathClaim(field: PathField, patterns: readonly string[], tools: ClaimedTools): RuleClaim {
  return field === 'not_path_under' ? outsideOf(patterns, tools) : pathsIn(field, patterns, tools);
}

function pathsIn(form: PathForm, patterns: readonly string[], tools: ClaimedTools) {
  const paths = patterns.flatMap((one) => sandboxPaths(one, form));
  return { kind: 'paths', paths, tools } as const;
}

function outsideOf(patterns: readonly string[], tools: ClaimedTools) {
  const folders = patterns.flatMap((one) => sandboxPaths(one, 'path_under'));
  return { kind: 'outside', folders, tools } as const;
}
