// Cursor: `sandbox.json` for the commands of its agent. By its documentation: it has not been tried.
import { isWholeProject } from './sandbox-path.ts';
import type {
  LeftRule,
  SandboxDialect,
  SandboxPlan,
  SandboxSettings,
  SettingsChange,
} from './settings.ts';
import {
  domainsIn,
  idsOf,
  leftFor,
  settingFlag,
  settingText,
  unsayableHosts,
} from './settings-values.ts';

export const CURSOR_SANDBOX: SandboxDialect = {
  client: 'cursor',
  isTried: false,
  tools: {
    read: { Read: ['file_path'] },
    write: { Write: ['file_path'] },
    shell: ['Shell'],
  },
  settings,
};

const POLICY = 'networkPolicy';

function settings(
  plan: SandboxPlan,
  current: { readonly [key: string]: unknown },
): SandboxSettings {
  const changes: SettingsChange[] = [];
  if (settingText(current, ['type']) === 'insecure_none') {
    changes.push({ path: ['type'], set: 'workspace_readwrite' });
  }
  const { writeRoots, deniedHosts, onlyHosts } = plan;
  const isTmpOpen = writeRoots?.folders.some(({ folder, rest }) => folder === 'tmp' && rest === '');
  if (isTmpOpen === false && settingFlag(current, ['disableTmpWrite']) !== true) {
    changes.push({ path: ['disableTmpWrite'], set: true });
  }
  const hosts = domainsIn(deniedHosts);
  if (hosts.length > 0) changes.push({ path: [POLICY, 'deny'], add: hosts });
  if (onlyHosts !== undefined && settingText(current, [POLICY, 'default']) !== 'deny') {
    changes.push({ path: [POLICY, 'default'], set: 'deny' });
  }
  return {
    changes,
    left: [...unsayableHosts(plan), ...unsayable(plan)],
    notes: [
      'From the documentation of Cursor: it has not been tried.',
      'A project can have a .cursor/sandbox.json of its own, which comes first.',
    ],
  };
}

function unsayable({
  denied,
  writeRoots,
  readRoots,
  deniedTools,
}: SandboxPlan): readonly LeftRule[] {
  const isNarrow = writeRoots !== undefined && !writeRoots.folders.some(isWholeProject);
  const all: readonly (readonly [rules: readonly string[], why: string])[] = [
    [idsOf(denied), 'Cursor cannot deny single files and folders by a setting of the user'],
    [
      isNarrow ? writeRoots.rules : [],
      'Cursor cannot confine writing to a folder inside of the project',
    ],
    [readRoots?.rules ?? [], 'Cursor does not confine what its tools for files read'],
    [idsOf(deniedTools), 'Cursor cannot switch a tool off by this setting'],
  ];
  return all.flatMap(([rules, why]) => leftFor(rules, why));
}
