// The rules of a policy about a client's own tools, as one plan for the client's sandbox. It never says
// more than the rules do: what depends on a call is left to the hooks, and named.
import type { Rule } from '@subluminal/contracts';
import { type CompiledRule, policiesIn, type Snapshot } from '../compile/snapshot.ts';
import { enforces } from '../decide/verdict.ts';
import { type ClaimedTools, claimsOf, isAboutHosts, type RuleClaim } from './rule-claims.ts';
import { commonFolders, uniquePaths } from './sandbox-path.ts';
import type {
  DeniedName,
  DeniedPath,
  LeftRule,
  OnlyFolders,
  OnlyHosts,
  SandboxDialect,
  SandboxPlaces,
  SandboxPlan,
} from './settings.ts';

interface Draft {
  readonly denied: DeniedPath[];
  readonly deniedTools: DeniedName[];
  readonly deniedHosts: DeniedName[];
  readonly left: LeftRule[];
  writeRoots: OnlyFolders | undefined;
  readRoots: OnlyFolders | undefined;
  onlyHosts: OnlyHosts | undefined;
}

interface Compiling {
  readonly dialect: SandboxDialect;
  readonly places: SandboxPlaces;
  readonly draft: Draft;
}

/** What restricts nothing, or is no rule about the client's tools, is not named. */
const WHY_NOT: { readonly [kind in Rule['kind']]?: string } = {
  approval: 'it asks a person',
  budget: 'it counts calls',
  rate_limit: 'it counts calls',
  breaker: 'it counts calls',
  dedupe: 'it remembers calls',
};

const OTHERS = 'it is about tools of servers';

export function compileSandbox(
  snapshot: Snapshot,
  dialect: SandboxDialect,
  places: SandboxPlaces,
): SandboxPlan {
  const draft: Draft = {
    ...{ denied: [], deniedTools: [], deniedHosts: [], left: [] },
    ...{ writeRoots: undefined, readRoots: undefined, onlyHosts: undefined },
  };
  for (const policy of policiesIn(snapshot)) compilePolicy(policy, { dialect, places, draft });
  return draft;
}

function compilePolicy(policy: Snapshot, compiling: Compiling): void {
  const { dialect, draft } = compiling;
  const why = whyNothing(policy);
  const allowed: CompiledRule[] = [];
  for (const compiled of policy.rules) {
    const { rule } = compiled;
    const tools = toolsOf(compiled, dialect);
    if (!rule.enabled || !compiled.match.subjects.has('tool')) continue;
    const reason = why ?? WHY_NOT[rule.kind] ?? (isNone(tools) ? OTHERS : undefined);
    if (rule.kind === 'tag') continue;
    if (rule.kind === 'allow') allowed.push(compiled);
    else if (reason !== undefined) draft.left.push({ rule_id: rule.rule_id, why: reason });
    else compileDeny({ rule, tools, allowed }, compiling);
  }
}

function whyNothing(policy: Snapshot): string | undefined {
  if (!enforces(policy)) return 'the policy only observes';
  const isForSome = Object.keys(policy.document.selectors ?? {}).length > 0;
  return isForSome ? 'the policy is for some runs only (`selectors`)' : undefined;
}

function toolsOf({ match }: CompiledRule, { client, tools }: SandboxDialect): ClaimedTools {
  const isMeant = (tool: string) => match.subjects.has('tool') && match.names(client, tool);
  return {
    read: Object.keys(tools.read).filter(isMeant),
    write: Object.keys(tools.write).filter(isMeant),
    shell: tools.shell.filter(isMeant),
  };
}

function isNone({ read, write, shell }: ClaimedTools): boolean {
  return read.length + write.length + shell.length === 0;
}

/** The first rule that decides wins: what an earlier one lets pass, the sandbox must not stop. */
function withoutAllowed(
  { rule, tools, allowed }: DenyRule,
  { dialect, draft }: Compiling,
): ClaimedTools {
  // Of hosts, those that may be reached can be listed.
  const isListed = (one: Rule) => isAboutHosts(rule) && isAboutHosts(one);
  const passing = allowed.filter((one) => !isListed(one.rule));
  if (passing.length === 0) return tools;
  const names = new Set<string>();
  const isOpen = (tool: string) => {
    const by = passing.filter(
      ({ match, rule: { match: wanted } }) =>
        match.names(dialect.client, tool) &&
        // Only a shell runs commands.
        (wanted.command === undefined || dialect.tools.shell.includes(tool)),
    );
    for (const one of by) names.add(one.rule.rule_id);
    return by.length === 0;
  };
  const rest = {
    read: tools.read.filter(isOpen),
    write: tools.write.filter(isOpen),
    shell: tools.shell.filter(isOpen),
  };
  if (names.size > 0) {
    const why = `an earlier rule lets some of it pass: ${[...names].join(', ')}`;
    draft.left.push({ rule_id: rule.rule_id, why });
  }
  return rest;
}

interface DenyRule {
  readonly rule: Rule;
  readonly tools: ClaimedTools;
  /** The earlier rules that let calls pass. */
  readonly allowed: readonly CompiledRule[];
}

function compileDeny(denying: DenyRule, compiling: Compiling): void {
  const { rule, allowed } = denying;
  const tools = withoutAllowed(denying, compiling);
  if (isNone(tools)) return;
  const { dialect, draft } = compiling;
  const leave = (why: string) => draft.left.push({ rule_id: rule.rule_id, why });
  const claims = claimsOf(rule, tools, dialect.tools);
  if (claims.kind === 'unsayable') leave(claims.why);
  if (claims.kind === 'all') {
    const names = [...tools.read, ...tools.write, ...tools.shell];
    draft.deniedTools.push(...names.map((name) => ({ name, rule_id: rule.rule_id })));
  }
  if (claims.kind !== 'either') return;
  for (const claim of claims.claims) {
    const why =
      claim.kind === 'hosts' && claim.hosts.includes('*')
        ? onlyHosts(rule, allowed, compiling)
        : takeClaim(claim, rule, compiling);
    if (why !== undefined) leave(why);
  }
}

/** A rule closes it to calls that name it; a sandbox would close it to git. */
function isGitFolder(rest: string): boolean {
  return /(?:^|\/)\.git$/.test(rest);
}

function isInGit(rest: string): boolean {
  return /(?:^|\/)\.git\//.test(rest);
}

/** All hosts but those that earlier rules let pass. */
function onlyHosts(
  { rule_id }: Rule,
  allowed: readonly CompiledRule[],
  { draft }: Compiling,
): undefined {
  const hosts = allowed
    .filter(({ rule }) => isAboutHosts(rule))
    .flatMap(({ rule: { match } }) => match.command?.hosts ?? []);
  const before = draft.onlyHosts;
  draft.onlyHosts = {
    hosts: before === undefined ? hosts : hosts.filter((host) => before.hosts.includes(host)),
    rules: [...(before?.rules ?? []), rule_id],
  };
}

/** Why it is not, or not wholly, in the sandbox. */
function takeClaim(
  claim: RuleClaim,
  { rule_id }: Rule,
  { draft, places }: Compiling,
): string | undefined {
  switch (claim.kind) {
    case 'unsayable':
      return claim.why;
    case 'hosts':
      draft.deniedHosts.push(...claim.hosts.map((name) => ({ name, rule_id })));
      return undefined;
    case 'paths': {
      if (isNone(claim.tools)) return 'none of its tools has such an argument';
      const { read, shell } = claim.tools;
      const access = claim.access ?? (read.length + shell.length > 0 ? 'read' : 'write');
      const denied = claim.paths.filter(({ rest }) => !isGitFolder(rest));
      draft.denied.push(
        ...denied.map((path) => {
          return { ...path, access: isInGit(path.rest) ? 'write' : access, rule_id } as const;
        }),
      );
      return denied.length === claim.paths.length ? undefined : 'git itself has to use .git';
    }
    case 'outside': {
      const { folders, tools } = claim;
      if (isNone(tools)) return 'none of its tools has such an argument';
      const common = (roots: OnlyFolders | undefined): OnlyFolders =>
        roots === undefined
          ? { folders: uniquePaths(folders), rules: [rule_id] }
          : {
              folders: commonFolders(roots.folders, folders, places),
              rules: [...roots.rules, rule_id],
            };
      if (tools.write.length + tools.shell.length > 0) draft.writeRoots = common(draft.writeRoots);
      if (tools.read.length > 0) draft.readRoots = common(draft.readRoots);
      return tools.shell.length > 0 && claim.access === undefined
        ? 'a command has to read programs elsewhere, so only writing outside is denied to it'
        : undefined;
    }
  }
}
