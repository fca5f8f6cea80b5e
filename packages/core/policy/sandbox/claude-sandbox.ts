// Claude Code: `sandbox` for its shell, `permissions` for its tools; rules about reading and editing files
// hold for the shell as well. Checked with 2.1.325.
import { isWholeProject, nearPaths, uniquePaths } from './sandbox-path.ts';
import type {
  DeniedPath,
  LeftRule,
  OnlyFolders,
  OnlyHosts,
  SandboxDialect,
  SandboxPath,
  SandboxPlaces,
  SandboxPlan,
  SandboxSettings,
  SettingsChange,
} from './settings.ts';
import { domainsIn, leftFor, settingFlag, unsayableHosts } from './settings-values.ts';

const FILE = ['file_path'];

export const CLAUDE_SANDBOX: SandboxDialect = {
  client: 'claude-code',
  isTried: true,
  tools: {
    read: { Read: FILE, Grep: ['path'], Glob: ['path'], LS: ['path'] },
    write: { Edit: FILE, MultiEdit: FILE, Write: FILE, NotebookEdit: ['notebook_path'] },
    shell: ['Bash'],
  },
  settings,
};

function settings(
  plan: SandboxPlan,
  current: { readonly [key: string]: unknown },
  places: SandboxPlaces,
): SandboxSettings {
  const unread = uniquePaths(
    plan.denied.filter(({ access }) => access === 'read').flatMap(nearPaths),
  );
  const rules = new Set([
    ...plan.deniedTools.map(({ name }) => name),
    ...plan.denied.flatMap((path) => fileRules(path, places)),
    ...unread.filter(({ folder }) => folder === 'project').map(({ rest }) => `Read(./${rest})`),
  ]);
  const hidden = unread.filter(({ folder }) => folder === 'home').map(({ rest }) => `~/${rest}`);
  const hosts = domainsIn(plan.deniedHosts);
  const changes: SettingsChange[] = [...switches(current)];
  if (rules.size > 0) changes.push({ path: ['permissions', 'deny'], add: [...rules] });
  if (hidden.length > 0) {
    changes.push({ path: ['sandbox', 'filesystem', 'denyRead'], add: hidden });
  }
  if (hosts.length > 0) changes.push({ path: [...NETWORK, 'deniedDomains'], add: hosts });
  if (plan.onlyHosts !== undefined) changes.push(...hostList(plan.onlyHosts, current));
  const roots = [
    boundary('blockWritesOutsideWorkingDirectories', plan.writeRoots, current),
    boundary('blockReadsOutsideWorkingDirectories', plan.readRoots, current),
  ];
  return {
    changes: [...changes, ...roots.flatMap((one) => one.changes)],
    left: [...unsayableHosts(plan), ...roots.flatMap((one) => one.left)],
    notes: notesOn(plan),
  };
}

const NETWORK = ['sandbox', 'network'];

/** Those that make it a boundary. Older versions run every sandboxed command without asking. */
function switches(current: { readonly [key: string]: unknown }): readonly SettingsChange[] {
  const wanted: readonly (readonly [path: readonly string[], value: boolean])[] = [
    [['sandbox', 'enabled'], true],
    [['sandbox', 'allowUnsandboxedCommands'], false],
  ];
  const changes: SettingsChange[] = wanted
    .filter(([path, value]) => settingFlag(current, path) !== value)
    .map(([path, value]) => ({ path, set: value }));
  const asks = ['sandbox', 'autoAllowBashIfSandboxed'];
  if (settingFlag(current, asks) === undefined) changes.push({ path: asks, set: false });
  const off = ['sandbox', 'filesystem', 'disabled'];
  if (settingFlag(current, off) === true) changes.push({ path: off, set: false });
  return changes;
}

/** Where hosts are listed, each other one is asked about, unless the list is strict. */
function hostList(
  only: OnlyHosts,
  current: { readonly [key: string]: unknown },
): readonly SettingsChange[] {
  const hosts = domainsIn(only.hosts.map((name) => ({ name, rule_id: '' })));
  const strict = [...NETWORK, 'strictAllowlist'];
  return [
    ...(settingFlag(current, strict) === true ? [] : [{ path: strict, set: true } as const]),
    ...(hosts.length === 0 ? [] : [{ path: [...NETWORK, 'allowedDomains'], add: hosts }]),
  ];
}

/** `//` is the root of the disk, `./` the folder that the client is started in. */
function fileRules(path: DeniedPath, places: SandboxPlaces): readonly string[] {
  const { access } = path;
  const tools = access === 'read' ? ['Read', 'Edit'] : ['Edit'];
  return patternsFor(path, places).flatMap((pattern) => tools.map((tool) => `${tool}(${pattern})`));
}

function patternsFor(path: SandboxPath, places: SandboxPlaces): readonly string[] {
  const { folder, rest, isGlob } = path;
  const below = isGlob ? rest : escaped(rest);
  const start = {
    root: '/',
    home: '~',
    project: '.',
    tmp: `/${escaped(places.tmp)}`,
  }[folder];
  return below === '' ? [`${start}/**`] : [`${start}/${below}`];
}

function escaped(path: string): string {
  return path.replaceAll(/[*?[\]\\]/g, '\\$&');
}

function boundary(
  key: string,
  roots: OnlyFolders | undefined,
  current: { readonly [key: string]: unknown },
): { readonly changes: readonly SettingsChange[]; readonly left: readonly LeftRule[] } {
  if (roots === undefined) return { changes: [], left: [] };
  const isInside = roots.folders.every(({ folder }) => folder === 'project' || folder === 'tmp');
  const isNarrower = !roots.folders.some(isWholeProject);
  const path = ['permissions', key];
  const isSet = settingFlag(current, path) === true;
  const what = key.startsWith('blockWrites') ? 'writing' : 'reading';
  const why = isInside
    ? `Claude Code cannot confine ${what} to a folder inside of the project`
    : `Claude Code can confine ${what} to the project alone, which is less than the rules let pass`;
  return {
    changes: isInside && !isSet ? [{ path, set: true }] : [],
    left: isInside && !isNarrower ? [] : leftFor(roots.rules, why),
  };
}

function notesOn({ denied }: SandboxPlan): readonly string[] {
  const globs = denied.some(({ isGlob }) => isGlob);
  return [
    'On Linux the shell is confined only where bubblewrap and socat are installed; without them Claude Code says so at its start, and runs commands all the same.',
    ...(globs
      ? [
          'On Linux its shell knows no patterns: those with * hold for its tools for files, and for the shell by hooks. Names without other signs are closed to it in the project and in the home.',
        ]
      : []),
  ];
}
