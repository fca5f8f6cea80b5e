// Codex: a profile of permissions for the commands that it runs and the patches that it applies. Checked
// with 0.166.0. The older `sandbox_mode` can deny no path, and the two do not go together.
import type { JsonValue } from '@subluminal/contracts';
import { SELF_PROTECTION } from './protected-paths.ts';
import { absoluteOf, absolutePattern, isWholeProject, nearPaths } from './sandbox-path.ts';
import type {
  DeniedPath,
  LeftRule,
  OnlyFolders,
  SandboxDialect,
  SandboxPlaces,
  SandboxPlan,
  SandboxSettings,
  SettingsChange,
} from './settings.ts';
import {
  domainsIn,
  idsOf,
  leftFor,
  settingFlag,
  settingTable,
  settingText,
  settingValue,
  unsayableHosts,
} from './settings-values.ts';

type Current = { readonly [key: string]: unknown };
type Access = 'deny' | 'read' | 'write';
/** By path; those of the project by their path below it. */
interface Rules {
  readonly own: Map<string, Access>;
  readonly project: Map<string, Access>;
}

const PROFILE = 'subluminal';
/** Patterns are looked up on the disk when a command starts. */
const SCAN_DEPTH = 8;
const WORKSPACE = ':workspace';
const READ_ONLY = ':read-only';
/** It holds more than settings of a client. */
const SHARED_FOLDER = '.github';
/** An empty one in its place would be a broken policy. Patterns are for files that are there. */
const [POLICY_FILE, POLICY_PATTERN] = ['policy.yaml', 'policy.yam[l]'];
const TMP_FOLDERS = [':tmpdir', ':slash_tmp'];

export const CODEX_SANDBOX: SandboxDialect = {
  client: 'codex',
  isTried: true,
  tools: { read: {}, write: { apply_patch: [] }, shell: ['Bash'] },
  settings,
};

function settings(plan: SandboxPlan, current: Current, places: SandboxPlaces): SandboxSettings {
  const parent = parentOf(current, places);
  const rules: Rules = { own: new Map(), project: new Map() };
  if (parent === WORKSPACE) userRoots(rules, current);
  const left = [
    ...writeRoots(rules, plan.writeRoots, parent),
    ...plan.denied.flatMap((path) => deny(rules, path, places)),
    ...unsayableHosts(plan),
    ...leftFor(idsOf(plan.deniedTools), 'Codex cannot switch a tool off by a setting'),
  ];
  const isLegacy = settingValue(current, ['sandbox_mode']) !== undefined;
  const changes: SettingsChange[] = isLegacy ? [{ path: ['sandbox_mode'], drop: true }] : [];
  changes.push(
    { path: ['default_permissions'], set: PROFILE },
    { path: ['permissions', PROFILE], set: profile(plan, rules, { parent, current }) },
  );
  return { changes, left, notes: notesOn(plan, current, parent) };
}

/** What holds without us. Where the user has said nothing, that is by the trust in the project. */
function parentOf(current: Current, { project }: SandboxPlaces): string {
  const mode = settingText(current, ['sandbox_mode']);
  if (mode !== undefined) return mode === 'read-only' ? READ_ONLY : WORKSPACE;
  const chosen = settingText(current, ['default_permissions']);
  if (chosen !== undefined) return chosen === ':danger-full-access' ? WORKSPACE : chosen;
  return isTrusted(current, project) ? WORKSPACE : READ_ONLY;
}

function isTrusted(current: Current, project: string): boolean {
  return settingText(current, ['projects', project, 'trust_level']) === 'trusted';
}

/** What the older settings say: they are not looked at any more. */
function userRoots({ own }: Rules, current: Current): void {
  const older = settingTable(current, ['sandbox_workspace_write']);
  const roots = settingValue(older, ['writable_roots']);
  for (const root of Array.isArray(roots) ? roots : []) {
    if (typeof root === 'string') own.set(root, 'write');
  }
  if (settingFlag(older, ['exclude_tmpdir_env_var']) === true) own.set(':tmpdir', 'read');
  if (settingFlag(older, ['exclude_slash_tmp']) === true) own.set(':slash_tmp', 'read');
}

function writeRoots(
  { own, project }: Rules,
  only: OnlyFolders | undefined,
  parent: string,
): readonly LeftRule[] {
  if (only === undefined) return [];
  const { folders: roots, rules } = only;
  for (const [path, access] of own) if (access === 'write') own.delete(path);
  if (parent === READ_ONLY) return [];
  if (!roots.some(({ folder, rest }) => folder === 'tmp' && rest === '')) {
    for (const tmp of TMP_FOLDERS) own.set(tmp, 'read');
  }
  if (!roots.some(isWholeProject)) {
    project.set('.', 'read');
    for (const { folder, rest } of roots) if (folder === 'project') project.set(rest, 'write');
  }
  const beyond = roots.filter(({ folder }) => folder === 'home' || folder === 'root');
  const why = 'folders outside of the project stay closed to writing: the sandbox opens nothing';
  return beyond.length === 0 ? [] : leftFor(rules, why);
}

/**
 * Codex puts something in the place of a path that is missing while its commands run: where one below a
 * missing folder is closed, the next command fails. So a file that governs a client is closed with its folder.
 */
function closedFolder({ folder, rest, rule_id }: DeniedPath): string | undefined {
  if (folder !== 'project' || rule_id !== SELF_PROTECTION) return undefined;
  return /^(\.[^/]+)\//.exec(rest)?.[1];
}

function projectPath({ rest, access }: DeniedPath): string {
  if (rest === POLICY_FILE && access === 'read') return POLICY_PATTERN;
  return rest === '' ? '.' : rest;
}

function deny(rules: Rules, path: DeniedPath, places: SandboxPlaces): readonly LeftRule[] {
  const { folder, rest, isGlob } = path;
  if (isGlob && path.access === 'write') {
    return leftFor([path.rule_id], `Codex cannot deny writing alone by a pattern (${rest})`);
  }
  const access = path.access === 'read' ? 'deny' : 'read';
  const closed = closedFolder(path);
  if (closed === SHARED_FOLDER) {
    return leftFor([path.rule_id], `Codex would close all of ${closed} where ${rest} is missing`);
  }
  if (closed !== undefined) set(rules.project, closed, access);
  else if (folder === 'project') set(rules.project, projectPath(path), access);
  // The whole disk cannot be searched for each command.
  else if (isGlob && folder === 'root' && rest.startsWith('**/')) {
    set(rules.project, rest, access);
    const near = nearPaths(path).filter((one) => one.folder === 'home');
    for (const one of near) set(rules.own, absoluteOf(one, places), access);
  } else set(rules.own, isGlob ? absolutePattern(path, places) : absoluteOf(path, places), access);
  return [];
}

const STRICTER: readonly Access[] = ['deny', 'read', 'write'];

function set(rules: Map<string, Access>, path: string, access: Access): void {
  const now = rules.get(path) ?? 'write';
  rules.set(path, STRICTER.indexOf(access) < STRICTER.indexOf(now) ? access : now);
}

function profile(
  { deniedHosts, onlyHosts }: SandboxPlan,
  { own, project }: Rules,
  { parent, current }: { readonly parent: string; readonly current: Current },
): JsonValue {
  const known = settingTable(current, ['permissions', parent, 'filesystem']);
  const isOpen = ([path, access]: readonly [string, Access]) =>
    !(access === 'read' && known[path] === 'deny');
  const hasGlobs = [...own.keys(), ...project.keys()].some((path) => /[*?[]/.test(path));
  const depth = hasGlobs && known['glob_scan_max_depth'] === undefined;
  const filesystem = {
    ...(depth && { glob_scan_max_depth: SCAN_DEPTH }),
    ...Object.fromEntries([...own].filter(isOpen)),
    ...(project.size > 0 && { ':workspace_roots': Object.fromEntries(project) }),
  };
  const domains = Object.fromEntries(domainsIn(deniedHosts).map((host) => [host, 'deny'] as const));
  const isOnline =
    parent === WORKSPACE &&
    settingFlag(current, ['sandbox_workspace_write', 'network_access']) === true;
  const network = {
    // An empty list of hosts is no network at all.
    ...((isOnline || onlyHosts?.hosts.length === 0) && {
      enabled: onlyHosts === undefined && isOnline,
    }),
    ...(Object.keys(domains).length > 0 && { domains }),
  };
  return {
    extends: parent,
    ...(Object.keys(filesystem).length > 0 && { filesystem }),
    ...(Object.keys(network).length > 0 && { network }),
  };
}

function notesOn(
  { denied, deniedHosts, onlyHosts }: SandboxPlan,
  current: Current,
  parent: string,
): readonly string[] {
  const isSaid = ['sandbox_mode', 'default_permissions'].some((key) => current[key] !== undefined);
  const isAnywhere = denied.some(({ isGlob, folder }) => isGlob && folder === 'root');
  return [
    ...(isSaid || parent === READ_ONLY
      ? []
      : [
          'The project is trusted, so commands may write in it. Codex would let them only read in a folder that is not trusted; with this profile they may write in whatever folder it is started in.',
        ]),
    ...(isSaid || parent !== READ_ONLY
      ? []
      : [
          'Codex does not trust this project, so commands can only read, as without this profile. Trust it, and write the profile again, to let them write in it.',
        ]),
    ...(isAnywhere
      ? [
          `Patterns are looked for in the project, ${SCAN_DEPTH} folders deep, when a command starts: a file that is made later is not hidden from it.`,
        ]
      : []),
    ...(deniedHosts.length > 0 || onlyHosts !== undefined
      ? [
          'Hosts are told apart only with `features.network_proxy`; without it the network is on or off as a whole.',
        ]
      : []),
    '`codex --sandbox …` on the command line takes the place of the profile.',
  ];
}
